"""Books a borrower, a basic and an extended loan, and a repayment with the generated Python client of the record style."""

import os
from datetime import date
from decimal import Decimal

import mkopo_auth
import mkopo_record
from mkopo_record import (
    CreateBasicLoanRequest,
    CreateBorrowerRequest,
    CreateExtendedLoanRequest,
    CreateLoanRequest,
    PostRepaymentRequest,
)

PRINCIPAL, PAID = Decimal("9999999.97"), Decimal("987654.32")
ID = int(os.environ["RECORD_ID"])


def cents(amount: float) -> Decimal:
    return Decimal(str(amount))


auth = mkopo_auth.Configuration(
    host=os.environ["AUTH_URL"], username=os.environ["EMAIL"], password=os.environ["PASSWORD"]
)
token = mkopo_auth.TokensApi(mkopo_auth.ApiClient(auth)).get_token().token

client = mkopo_record.ApiClient(mkopo_record.Configuration(host=os.environ["URL"], access_token=token))
borrowers, loans = mkopo_record.BorrowersApi(client), mkopo_record.LoansApi(client)
repayments = mkopo_record.RepaymentsApi(client)

borrower = borrowers.create_borrower(
    CreateBorrowerRequest(
        id=ID, business_name="Asha Store", phone="255700000001", address="Kariakoo", type="retail", region="Ilala"
    )
).item
assert borrower.id == ID, borrower
basic = loans.create_loan(
    CreateLoanRequest(
        CreateBasicLoanRequest(
            borrower_id=ID,
            loan_id=ID,
            principal_amount=float(PRINCIPAL),
            released_date=date(2026, 1, 31),
            due_date=date(2026, 3, 2),
            duration=30,
            duration_period="Days",
        )
    )
).item
assert (basic.loan_id, cents(basic.principal_amount)) == (ID, PRINCIPAL), basic
extended = loans.create_loan(
    CreateLoanRequest(
        CreateExtendedLoanRequest(
            loan_id=ID - 1,
            borrower_id=ID,
            loan_application_id="LA-2026-001",
            loan_principal_amount=float(PRINCIPAL),
            loan_released_date=date(2026, 1, 31),
            loan_interest_method="flat_rate",
            loan_interest_type="percentage",
            loan_interest_period="Month",
            loan_interest=2.5,
            loan_duration_period="Months",
            loan_duration=6,
            loan_payment_scheme_id=3,
            loan_num_of_repayments=6,
        )
    )
).item
assert (extended.loan_id, cents(extended.loan_principal_amount)) == (ID - 1, PRINCIPAL), extended
repayment = repayments.post_repayment(
    PostRepaymentRequest(repayment_id=ID, loan_id=ID, amount=float(PAID), collection_date=date(2026, 2, 15))
).item
assert (repayment.repayment_id, cents(repayment.amount)) == (ID, PAID), repayment
assert cents(repayments.get_repayment(ID).item.amount) == PAID
assert [one.loan_id for one in loans.list_loans().items if one.loan_id == ID] == [ID]
