import com.mkopo.auth.api.TokensApi;
import com.mkopo.record.api.BorrowersApi;
import com.mkopo.record.api.LoansApi;
import com.mkopo.record.api.RepaymentsApi;
import com.mkopo.record.model.CreateBasicLoanRequest;
import com.mkopo.record.model.CreateBorrowerRequest;
import com.mkopo.record.model.CreateExtendedLoanRequest;
import com.mkopo.record.model.CreateLoanRequest;
import com.mkopo.record.model.PostRepaymentRequest;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.Objects;

/** Books a borrower, a basic and an extended loan, and a repayment with the generated Java client. */
final class Record {
  private static final BigDecimal PRINCIPAL = new BigDecimal("9999999.97");
  private static final BigDecimal PAID = new BigDecimal("987654.32");
  private static final Long ID = Long.valueOf(System.getenv("RECORD_ID"));

  public static void main(String[] args) throws Exception {
    var login = new com.mkopo.auth.ApiClient();
    login.setBasePath(System.getenv("AUTH_URL"));
    login.setUsername(System.getenv("EMAIL"));
    login.setPassword(System.getenv("PASSWORD"));
    var token = new TokensApi(login).getToken().getToken();

    var client = new com.mkopo.record.ApiClient();
    client.setBasePath(System.getenv("URL"));
    client.setBearerToken(token);
    var loans = new LoansApi(client);
    var repayments = new RepaymentsApi(client);

    var details = new CreateBorrowerRequest().id(ID).businessName("Asha Store").phone("255700000001");
    details.address("Kariakoo").type("retail").region("Ilala");
    var borrower = new BorrowersApi(client).createBorrower(details, null, null).getItem();
    expect("borrower", borrower.getId(), ID);

    var basic = new CreateBasicLoanRequest().borrowerId(ID).loanId(ID).principalAmount(PRINCIPAL.doubleValue());
    basic.releasedDate(LocalDate.of(2026, 1, 31)).dueDate(LocalDate.of(2026, 3, 2)).duration(30).durationPeriod("Days");
    var loan = loans.createLoan(new CreateLoanRequest(basic), null, null).getItem();
    expect("loan", loan.getLoanId(), ID);
    expect("principal", BigDecimal.valueOf(loan.getPrincipalAmount()), PRINCIPAL);

    var terms = new CreateExtendedLoanRequest().loanId(ID - 1).borrowerId(ID).loanApplicationId("LA-2026-001");
    terms.loanPrincipalAmount(PRINCIPAL.doubleValue()).loanReleasedDate(LocalDate.of(2026, 1, 31));
    terms.loanInterestMethod("flat_rate").loanInterestType("percentage").loanInterestPeriod("Month").loanInterest(2.5);
    terms.loanDurationPeriod("Months").loanDuration(6).loanPaymentSchemeId(3L).loanNumOfRepayments(6);
    var extended = loans.createLoan(new CreateLoanRequest(terms), null, null).getItem();
    expect("extended loan", extended.getLoanId(), ID - 1);
    expect("extended principal", BigDecimal.valueOf(extended.getLoanPrincipalAmount()), PRINCIPAL);

    var payment = new PostRepaymentRequest().repaymentId(ID).loanId(ID).amount(PAID.doubleValue());
    var posted = repayments.postRepayment(payment.collectionDate(LocalDate.of(2026, 2, 15)), null, null).getItem();
    expect("repayment", posted.getRepaymentId(), ID);
    expect("amount", BigDecimal.valueOf(repayments.getRepayment(ID, null).getItem().getAmount()), PAID);
  }

  private static void expect(String what, Object got, Object wanted) {
    if (!Objects.equals(got, wanted)) throw new AssertionError(what + ": " + got + " instead of " + wanted);
  }
}
