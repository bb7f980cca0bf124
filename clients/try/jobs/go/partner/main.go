// Does the main job with the generated Go clients: token, customer, loan, repayment, read back to the cent.
package main

import (
	"context"
	"os"

	"try/auth"
	"try/check"
	"try/partner"
)

func main() {
	login := auth.NewConfiguration()
	login.Servers = auth.ServerConfigurations{{URL: os.Getenv("AUTH_URL")}}
	basic := context.WithValue(context.Background(), auth.ContextBasicAuth,
		auth.BasicAuth{UserName: os.Getenv("EMAIL"), Password: os.Getenv("PASSWORD")})
	token, _, err := auth.NewAPIClient(login).TokensAPI.GetToken(basic).Execute()
	check.Must(err)

	settings := partner.NewConfiguration()
	settings.Servers = partner.ServerConfigurations{{URL: os.Getenv("URL")}}
	client := partner.NewAPIClient(settings)
	ctx := context.WithValue(context.Background(), partner.ContextAccessToken, token.Token)

	customer, _, err := client.CustomersAPI.CreateCustomer(ctx).
		CreateCustomerRequest(*partner.NewCreateCustomerRequest("CUST-0001")).Execute()
	check.Must(err)
	check.Equal("active", customer.Active, true)
	terms := partner.NewCreateLoanRequest("CUST-0001", 1, check.Principal)
	terms.SetExternalId("LOAN-0001")
	loan, _, err := client.LoansAPI.CreateLoan(ctx).CreateLoanRequest(*terms).Execute()
	check.Must(err)
	check.Amount("principal", loan.Principal, check.Principal)

	payment := partner.NewPostRepaymentRequest(check.Paid)
	payment.SetIdempotencyKey("PAY-0001")
	post := func() *partner.Transaction {
		posted, _, err := client.RepaymentsAPI.PostRepayment(ctx, loan.Id).
			PostRepaymentRequest(*payment).IdempotencyKey("KEY-0001").Execute()
		check.Must(err)
		return posted
	}
	posted := post()
	check.Amount("amount", posted.Amount, check.Paid)
	check.Equal("transaction posted again", post().Id, posted.Id)

	read, _, err := client.LoansAPI.GetLoanByExternalId(ctx, "LOAN-0001").Execute()
	check.Must(err)
	check.Equal("repayments of the loan", len(read.RepaymentHistory), 1)
	check.Amount("repayment of the loan", read.RepaymentHistory[0].Amount, check.Paid)
	page, _, err := client.RepaymentsAPI.ListRepayments(ctx, loan.Id).Execute()
	check.Must(err)
	check.Amount("repayment of the list", page.Items[0].Amount, check.Paid)
	_, answer, err := client.LoansAPI.GetLoan(ctx, "1").Execute()
	check.Equal("error for a loan that is not there", err != nil, true)
	check.Equal("status of a loan that is not there", answer.StatusCode, 404)
}
