// Does the main job with the clients of oapi-codegen: token, customer, loan, repayment, read back to the cent.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"try/auth"
	"try/check"
	"try/partner"
)

// answered ends the job unless the call was answered with 200.
func answered(err error, response *http.Response, body []byte) {
	check.Must(err)
	if response.StatusCode != http.StatusOK {
		log.Fatalf("%s %s: %d %s", response.Request.Method, response.Request.URL, response.StatusCode, body)
	}
}

func main() {
	ctx := context.Background()
	login, err := auth.NewClientWithResponses(os.Getenv("AUTH_URL"))
	check.Must(err)
	token, err := login.GetTokenWithResponse(ctx, func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(os.Getenv("EMAIL"), os.Getenv("PASSWORD"))
		return nil
	})
	answered(err, token.HTTPResponse, token.Body)

	client, err := partner.NewClientWithResponses(os.Getenv("URL"),
		partner.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+token.JSON200.Token)
			return nil
		}))
	check.Must(err)
	customer, err := client.CreateCustomerWithResponse(ctx, nil, partner.CreateCustomerRequest{ExternalId: "CUST-0001"})
	answered(err, customer.HTTPResponse, customer.Body)
	check.Equal("active", customer.JSON200.Active, true)
	externalID := "LOAN-0001"
	loan, err := client.CreateLoanWithResponse(ctx, nil, partner.CreateLoanRequest{
		CustomerId: "CUST-0001", ProductId: 1, Principal: check.Principal, ExternalId: &externalID,
	})
	answered(err, loan.HTTPResponse, loan.Body)
	check.Amount("principal", loan.JSON200.Principal, check.Principal)

	dedupe, key := "PAY-0001", "KEY-0001"
	post := func() *partner.Transaction {
		posted, err := client.PostRepaymentWithResponse(ctx, loan.JSON200.Id,
			&partner.PostRepaymentParams{IdempotencyKey: &key},
			partner.PostRepaymentRequest{TransactionAmount: check.Paid, IdempotencyKey: &dedupe})
		answered(err, posted.HTTPResponse, posted.Body)
		return posted.JSON200
	}
	posted := post()
	check.Amount("amount", posted.Amount, check.Paid)
	check.Equal("transaction posted again", post().Id, posted.Id)

	read, err := client.GetLoanByExternalIdWithResponse(ctx, externalID)
	answered(err, read.HTTPResponse, read.Body)
	check.Equal("repayments of the loan", len(read.JSON200.RepaymentHistory), 1)
	check.Amount("repayment of the loan", read.JSON200.RepaymentHistory[0].Amount, check.Paid)
	page, err := client.ListRepaymentsWithResponse(ctx, loan.JSON200.Id, nil)
	answered(err, page.HTTPResponse, page.Body)
	check.Amount("repayment of the list", page.JSON200.Items[0].Amount, check.Paid)
	missing, err := client.GetLoanWithResponse(ctx, "1")
	check.Must(err)
	check.Equal("code of a loan that is not there", missing.JSON404.Code, "not_found")
}
