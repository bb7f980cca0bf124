// Books a borrower, a basic and an extended loan, and a repayment with the client of oapi-codegen.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	openapi_types "github.com/oapi-codegen/runtime/types"

	"try/auth"
	"try/check"
	"try/record"
)

// answered ends the job unless the call was answered with 200.
func answered(err error, response *http.Response, body []byte) {
	check.Must(err)
	if response.StatusCode != http.StatusOK {
		log.Fatalf("%s %s: %d %s", response.Request.Method, response.Request.URL, response.StatusCode, body)
	}
}

func day(month time.Month, day int) openapi_types.Date {
	return openapi_types.Date{Time: time.Date(2026, month, day, 0, 0, 0, 0, time.UTC)}
}

func main() {
	ctx, id := context.Background(), check.RecordID()
	login, err := auth.NewClientWithResponses(os.Getenv("AUTH_URL"))
	check.Must(err)
	token, err := login.GetTokenWithResponse(ctx, func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(os.Getenv("EMAIL"), os.Getenv("PASSWORD"))
		return nil
	})
	answered(err, token.HTTPResponse, token.Body)

	client, err := record.NewClientWithResponses(os.Getenv("URL"),
		record.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+token.JSON200.Token)
			return nil
		}))
	check.Must(err)
	borrower, err := client.CreateBorrowerWithResponse(ctx, nil, record.CreateBorrowerRequest{
		Id: id, BusinessName: "Asha Store", Phone: "255700000001", Address: "Kariakoo", Type: "retail", Region: "Ilala",
	})
	answered(err, borrower.HTTPResponse, borrower.Body)
	check.Equal("borrower", borrower.JSON200.Item.Id, id)

	var short, long record.CreateLoanRequest
	check.Must(short.FromCreateBasicLoanRequest(record.CreateBasicLoanRequest{
		BorrowerId: id, LoanId: id, PrincipalAmount: check.Principal,
		ReleasedDate: day(time.January, 31), DueDate: day(time.March, 2), Duration: 30, DurationPeriod: "Days",
	}))
	loan, err := client.CreateLoanWithResponse(ctx, nil, short)
	answered(err, loan.HTTPResponse, loan.Body)
	check.Equal("loan", loan.JSON200.Item.LoanId, id)
	check.Amount("principal", loan.JSON200.Item.PrincipalAmount, check.Principal)

	application := "LA-2026-001"
	check.Must(long.FromCreateExtendedLoanRequest(record.CreateExtendedLoanRequest{
		LoanId: id - 1, BorrowerId: id, LoanApplicationId: &application, LoanPrincipalAmount: check.Principal,
		LoanReleasedDate: day(time.January, 31), LoanInterestMethod: "flat_rate", LoanInterestType: "percentage",
		LoanInterestPeriod: "Month", LoanInterest: 2.5, LoanDurationPeriod: "Months", LoanDuration: 6,
		LoanPaymentSchemeId: 3, LoanNumOfRepayments: 6,
	}))
	extended, err := client.CreateLoanWithResponse(ctx, nil, long)
	answered(err, extended.HTTPResponse, extended.Body)
	check.Equal("extended loan", extended.JSON200.Item.LoanId, id-1)
	check.Amount("extended principal", *extended.JSON200.Item.LoanPrincipalAmount, check.Principal)

	posted, err := client.PostRepaymentWithResponse(ctx, nil, record.PostRepaymentRequest{
		RepaymentId: id, LoanId: id, Amount: check.Paid, CollectionDate: day(time.February, 15),
	})
	answered(err, posted.HTTPResponse, posted.Body)
	check.Equal("repayment", posted.JSON200.Item.RepaymentId, id)
	read, err := client.GetRepaymentWithResponse(ctx, id, nil)
	answered(err, read.HTTPResponse, read.Body)
	check.Amount("amount", read.JSON200.Item.Amount, check.Paid)
	page, err := client.ListLoansWithResponse(ctx, nil)
	answered(err, page.HTTPResponse, page.Body)
	check.Equal("loans", len(page.JSON200.Items), 2)
}
