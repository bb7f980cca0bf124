import com.mkopo.auth.api.TokensApi;
import com.mkopo.partner.ApiException;
import com.mkopo.partner.api.CustomersApi;
import com.mkopo.partner.api.LoansApi;
import com.mkopo.partner.api.RepaymentsApi;
import com.mkopo.partner.model.CreateCustomerRequest;
import com.mkopo.partner.model.CreateLoanRequest;
import com.mkopo.partner.model.PostRepaymentRequest;
import java.math.BigDecimal;
import java.util.Objects;

/** Does the main job with the generated Java clients: token, customer, loan, repayment, read back to the cent. */
final class Partner {
  private static final BigDecimal PRINCIPAL = new BigDecimal("9999999.97");
  private static final BigDecimal PAID = new BigDecimal("987654.32");

  public static void main(String[] args) throws Exception {
    var login = new com.mkopo.auth.ApiClient();
    login.setBasePath(System.getenv("AUTH_URL"));
    login.setUsername(System.getenv("EMAIL"));
    login.setPassword(System.getenv("PASSWORD"));
    var token = new TokensApi(login).getToken().getToken();

    var client = new com.mkopo.partner.ApiClient();
    client.setBasePath(System.getenv("URL"));
    client.setBearerToken(token);
    var loans = new LoansApi(client);
    var repayments = new RepaymentsApi(client);

    var customer = new CustomersApi(client).createCustomer(new CreateCustomerRequest().externalId("CUST-0001"), null);
    expect("active", customer.getActive(), true);
    var terms = new CreateLoanRequest().customerId("CUST-0001").productId(1).externalId("LOAN-0001");
    var loan = loans.createLoan(terms.principal(PRINCIPAL.doubleValue()), null);
    expect("principal", BigDecimal.valueOf(loan.getPrincipal()), PRINCIPAL);

    var payment = new PostRepaymentRequest().transactionAmount(PAID.doubleValue()).idempotencyKey("PAY-0001");
    var posted = repayments.postRepayment(loan.getId(), payment, "KEY-0001");
    expect("amount", BigDecimal.valueOf(posted.getAmount()), PAID);
    var again = repayments.postRepayment(loan.getId(), payment, "KEY-0001");
    expect("transaction posted again", again.getId(), posted.getId());

    var read = loans.getLoanByExternalId("LOAN-0001");
    expect("repayments of the loan", read.getRepaymentHistory().size(), 1);
    expect("repayment of the loan", BigDecimal.valueOf(read.getRepaymentHistory().get(0).getAmount()), PAID);
    try {
      loans.getLoan("1");
      throw new AssertionError("a loan that is not there was answered");
    } catch (ApiException error) {
      expect("status of a loan that is not there", error.getCode(), 404);
    }
  }

  private static void expect(String what, Object got, Object wanted) {
    if (!Objects.equals(got, wanted)) throw new AssertionError(what + ": " + got + " instead of " + wanted);
  }
}
