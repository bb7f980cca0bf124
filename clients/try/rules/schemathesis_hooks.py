"""Extends Schemathesis: a key of its own for each request, and the exceptions from two checks, each with its reason."""

import re
import uuid

import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

# Refusals of requests that the document allows, by their reason: `field: message`. They are rules of lending, which no
# JSON schema can say. A refusal is accepted where each of its details is in this list.
BEYOND_THE_SCHEMA = {
    "format: date has no bounds": r"must be between \d{4}-\d\d-\d\d and \d{4}-\d\d-\d\d$",
    "the day depends on the loan and on today": (
        r"[dD]ate: must (be on or after|not be before|not be after|not be in the future)\b"
        r"|^(on|asOf|dueDate): must be from the day of disbursement, |^to: must not be before the disbursement of the loan, "
        r"|^(to|knownAt): must not be in the future\b|^(asOf|to): must (be at most|not be after) \d{4}-\d\d-\d\d"
        r"|^knownAt: must be from \d{4}-\d\d-\d\d\S*, when the loan was made, to now$"
    ),
    "decimals depend on the currency": r"must have at most \d+ decimals in [A-Z]{3}$|must have no decimals in [A-Z]{3}$",
    "an amount is exact, and has fewer digits than a double": r"is too large, or has too many digits$",
    "patterns of all languages share no classes of Unicode": (
        r"must not contain invisible characters, or characters that turn the text around$|must not be only spaces$"
        r"|^accounts\[\d+\]\.name: must be 1 to \d+ characters that can be seen|^buckets\[\d+\]\.\w+: must be 1 to \d+ characters that"
    ),
    "an id in a body is that of the path": r"must be that of the path, |is not the id of the path$",
    "the bounds of the principal are those of the product": (
        r"^principal: must be (between|at least|at most|more than the fees|such that) "
    ),
    "a statement is a PDF that can be read": r"^statement: ",
    "one of two fields is needed": r"^(fullName|mobileNumber): is required, unless the other is given$",
    "no pattern says which texts of 19 digits are above the greatest int64": (
        r"^(customerId|loanId): must be (the number that the service answered as id; |the number of a loan$)"
    ),
    "it depends on what the loan was made with": (
        r"cannot be changed: leave it out, or send it as the loan has it\b|follows from the other terms of this loan: "
        r"|^duration: must be a whole number from 1 to 730$"
    ),
    "terms of an extended loan depend on each other": (
        r"^(loan_interest_type: must be percentage unless |loan_payment_scheme_id: must not be a lump sum with "
        r"|loan_num_of_repayments: must be 1 for a lump sum$|loan_num_of_repayments: must be at most \d+, one for each day "
        r"|loan_(num_of_repayments|duration): must end the loan before the year 10000$"
        r"|loan_released_date: must be so early that |loan_interest: must not come to more than )"
    ),
    "a rate has at most four decimals, which multipleOf cannot say of a double": (
        r"^loan_interest: must have at most 4 decimals$"
    ),
    "terms of a product depend on each other": (
        r"^dayCount: must be periods where |^grace\.\w+: must be a whole number from 0 and less than "
        r"|^grace\.principalPeriods: must be 0 where |^grace\.firstDueAfter\.every: must be a whole number, 1 to "
        r"|^installmentAmountInMultiplesOf: cannot be given where |^maxPrincipal: must not be less than minPrincipal$"
        r"|^fees\[\d+\]\.(rate|amount): (is required where|cannot be given where) "
        r"|^fees\[\d+\]\.(when: must be (each_instalment|disbursement) where|name: is the name of) "
        r"|^fees\[\d+\]\.base: must be fixed or principal where |^fees: must leave something to pay out: "
        r"|^penalty\.(rate|amount|maxTimes): (is required where|cannot be given where) "
        r"|^penalty: cannot be given together with |^totalChargeCap: must leave room for interest and fees: "
        r"|^interestRate: must not come to more per month than |^numberOfRepayments: must be so few that "
        r"|^(interestRate|penaltyPercentOfPrincipal|penalty\.rate|fees): must be so low that the "
    ),
    "a rate of a product has at most six decimals": (
        r"^(interestRate|penaltyPercentOfPrincipal|fees\[\d+\]\.rate|penalty\.(rate|capPercentOfPrincipal)|totalChargeCap"
        r"|regulation\.maxRatePerMonth): must have at most 6 decimals$"
    ),
    "a whole number in a query is written in digits, never as 1.0": (
        r"^(loan_id|borrower_id|page|rows|wait|productId|accountId): must be a whole number, written in digits$"
    ),
    "no pattern says which digits are a day and an hour": (
        r"^\w+: must be an instant such as 2026-11-20T14:30:00\+03:00, or a date such as 2026-11-20$"
    ),
    "a cursor is the next of an answer of the same list": (
        r"^after: must be the next of an answer of (this list|the list of events|the journal)"
        r"|^from: must be now, beginning or a cursor of the list of events$"
        r"|^since: must be an instant such as 2026-11-20T14:30:00\+03:00, or a cursor of the feed of events$"
    ),
    "the parts of a chart name each other, and products that there are": (
        r"^(slots\.\w+: must be |accounts\[\d+\]\.code: is the code of |method\.products)"
    ),
    "the last day is not before the first": (
        r"^to: must not be before from$|^from: must (be before|not be after to,) \d{4}-\d\d-\d\d$|^from: leaves \d+ lines "
    ),
    "a policy and a version are those that there are": (
        r"^policy: must be one of (\w+, )+or the number of a version of the policy$|^version: must be a version that there is: "
    ),
    "an amount in a query is in digits, never as 5e-324": r"^principal: must be an amount in decimal digits, ",
    "one of two fields is needed, and not both": (
        r"^askedBy or loanId is required: |^at least one setting must be given$|^materiality: must have amount, percentOfPrincipal, or both$"
        r"|^to: must be given, or by\.days instead: one of the two$"
    ),
    "a preset has rules of its own, and without one they are needed": (
        r"^\w+: cannot be given together with preset, which has rules of its own$|^\w+: is required, unless preset names one of "
    ),
    "a logo is a picture": r"^logo: must be (a PNG or a JPEG|1 to \d+ pixels) ",
    "a bucket is one of the policy": r"^bucket: must be one of the policy in force: ",
    "the clock of a test organization only goes forward, by ten years at most": (
        r"^to: must be (later than \S+, where the clock is: |at most ten years later: )"
    ),
    "buckets follow each other": (
        r"^buckets\[\d+\]\.(fromDays: must be (0: the first bucket|\d+, one more than toDays of the bucket before it)"
        r"|toDays: (must be (left out in the last bucket|at least \d+, which is fromDays)|is required: only the last bucket )|stage: must not be below |name: is the name of )"
        r"|^countFrom: is required$|^(buckets\[\d+\]\.provisionRate|materiality\.percentOfPrincipal): must have at most \d+ decimals$"
    ),
    "a URL of an endpoint leads to an address of the internet": r"^url: must (be|begin|have|lead|not) ",
    "a page, a cursor and an order of the caller's exclude each other": (
        r"^(page|orderBy|sortOrder): cannot be given together with (after|updatedSince|updated_since)\b"
    ),
    "words are taken in any case, with spaces or underscores": (
        r"^(\w+_period|loan_interest_method|loan_interest_type|loan_decimal_places): must be one of "
    ),
}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives each valid request a key of its own: with the same one it would be a repetition of another request."""
    headers = case.headers
    if headers and "Idempotency-Key" in headers and case.meta and case.meta.generation.mode.is_positive:
        headers["Idempotency-Key"] = uuid.uuid4().hex


def faults_of(response):
    """Returns the faults that a refusal names, as `field: message`."""
    try:
        failure = response.json()
    except ValueError:
        return []
    details = failure.get("details") or []
    return [f"{one['field']}: {one['message']}" for one in details] or [failure.get("message", "")]


def is_beyond(fault):
    return any(re.search(rule, fault) for rule in BEYOND_THE_SCHEMA.values())


@schemathesis.check
def accepts_valid_data(ctx, response, case):
    """As positive_data_acceptance, but for refusals beyond the schema."""
    faults = faults_of(response)
    if response.status_code == 400 and faults and all(is_beyond(fault) for fault in faults):
        return None
    return positive_data_acceptance(ctx, response, case)


OF_ANOTHER_TYPE = re.compile(r"in body - (?:violates `type` at /properties/)?(\w+)(?:: Incorrect type| \()")


@schemathesis.check
def rejects_invalid_data(ctx, response, case):
    """As negative_data_rejection, but that null stands for an optional member that is left out, and that a dedupe token which
    was seen before is answered with its transaction, whatever else the body says (contract 4.4.2)."""
    if response.status_code == 200 and "idempotency-mismatch" in response.headers:
        return None
    try:
        return negative_data_rejection(ctx, response, case)
    except AssertionError as failure:
        member = OF_ANOTHER_TYPE.search(str(failure))
        if member and isinstance(case.body, dict) and case.body.get(member[1], "") is None:
            return None
        raise
