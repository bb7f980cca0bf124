// Books a borrower, a basic and an extended loan, and a repayment with the generated Go client of the record style.
package main

import (
	"context"
	"os"

	"try/auth"
	"try/check"
	"try/record"
)

func main() {
	id := check.RecordID()
	login := auth.NewConfiguration()
	login.Servers = auth.ServerConfigurations{{URL: os.Getenv("AUTH_URL")}}
	basic := context.WithValue(context.Background(), auth.ContextBasicAuth,
		auth.BasicAuth{UserName: os.Getenv("EMAIL"), Password: os.Getenv("PASSWORD")})
	token, _, err := auth.NewAPIClient(login).TokensAPI.GetToken(basic).Execute()
	check.Must(err)

	settings := record.NewConfiguration()
	settings.Servers = record.ServerConfigurations{{URL: os.Getenv("URL")}}
	client := record.NewAPIClient(settings)
	ctx := context.WithValue(context.Background(), record.ContextAccessToken, token.Token)

	details := record.NewCreateBorrowerRequest(id, "Asha Store", "255700000001", "Kariakoo", "retail", "Ilala")
	borrower, _, err := client.BorrowersAPI.CreateBorrower(ctx).CreateBorrowerRequest(*details).Execute()
	check.Must(err)
	check.Equal("borrower", borrower.Item.Id, id)

	short := record.NewCreateBasicLoanRequest(id, id, check.Principal, "2026-01-31", "2026-03-02", 30, "Days")
	loan, _, err := client.LoansAPI.CreateLoan(ctx).
		CreateLoanRequest(record.CreateBasicLoanRequestAsCreateLoanRequest(short)).Execute()
	check.Must(err)
	check.Equal("loan", loan.Item.LoanId, id)
	check.Amount("principal", loan.Item.PrincipalAmount, check.Principal)

	long := record.NewCreateExtendedLoanRequest(id-1, id, check.Principal, "2026-01-31", "flat_rate", "percentage",
		"Month", 2.5, "Months", 6, 3, 6)
	long.SetLoanApplicationId("LA-2026-001")
	extended, _, err := client.LoansAPI.CreateLoan(ctx).
		CreateLoanRequest(record.CreateExtendedLoanRequestAsCreateLoanRequest(long)).Execute()
	check.Must(err)
	check.Equal("extended loan", extended.Item.LoanId, id-1)
	check.Amount("extended principal", extended.Item.GetLoanPrincipalAmount(), check.Principal)

	payment := record.NewPostRepaymentRequest(id, id, check.Paid, "2026-02-15")
	posted, _, err := client.RepaymentsAPI.PostRepayment(ctx).PostRepaymentRequest(*payment).Execute()
	check.Must(err)
	check.Equal("repayment", posted.Item.RepaymentId, id)
	read, _, err := client.RepaymentsAPI.GetRepayment(ctx, id).Execute()
	check.Must(err)
	check.Amount("amount", read.Item.Amount, check.Paid)
	page, _, err := client.LoansAPI.ListLoans(ctx).Execute()
	check.Must(err)
	check.Equal("loans", len(page.Items), 2)
}
