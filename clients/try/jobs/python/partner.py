"""Does the main job with the generated Python clients: token, customer, loan, repayment, read back to the cent."""

import os
from decimal import Decimal

import mkopo_auth
import mkopo_partner
from mkopo_partner import CreateCustomerRequest, CreateLoanRequest, PostRepaymentRequest

PRINCIPAL, PAID = Decimal("9999999.97"), Decimal("987654.32")


def cents(amount: float) -> Decimal:
    return Decimal(str(amount))


auth = mkopo_auth.Configuration(
    host=os.environ["AUTH_URL"], username=os.environ["EMAIL"], password=os.environ["PASSWORD"]
)
token = mkopo_auth.TokensApi(mkopo_auth.ApiClient(auth)).get_token().token

client = mkopo_partner.ApiClient(mkopo_partner.Configuration(host=os.environ["URL"], access_token=token))
customers, loans = mkopo_partner.CustomersApi(client), mkopo_partner.LoansApi(client)
repayments = mkopo_partner.RepaymentsApi(client)

customer = customers.create_customer(CreateCustomerRequest(externalId="CUST-0001"))
assert customer.active, customer
loan = loans.create_loan(
    CreateLoanRequest(customerId="CUST-0001", productId=1, principal=float(PRINCIPAL), externalId="LOAN-0001")
)
assert cents(loan.principal) == PRINCIPAL, loan
posted = repayments.post_repayment(
    loan.id,
    PostRepaymentRequest(transactionAmount=float(PAID), idempotencyKey="PAY-0001"),
    idempotency_key="KEY-0001",
)
again = repayments.post_repayment(
    loan.id,
    PostRepaymentRequest(transactionAmount=float(PAID), idempotencyKey="PAY-0001"),
    idempotency_key="KEY-0001",
)
assert (cents(posted.amount), again.id) == (PAID, posted.id), (posted, again)
read = loans.get_loan_by_external_id("LOAN-0001")
assert cents(read.principal) == PRINCIPAL, read
assert [cents(one.amount) for one in read.repayment_history] == [PAID], read.repayment_history
page = repayments.list_repayments(loan.id)
assert (page.total, cents(page.items[0].amount)) == (1, PAID), page

try:
    loans.get_loan("1")
except mkopo_partner.exceptions.NotFoundException as error:
    assert "not_found" in error.body, error.body
else:
    raise AssertionError("a loan that is not there was answered")
