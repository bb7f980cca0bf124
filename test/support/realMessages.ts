/** Messages as their providers write them, with the answer to each, and the payment that comes of it. */
export const REAL = [
  {
    adapter: 'canonical',
    sent: '{"receipt":"C-1","amount":1500.50,"paidAt":"2026-01-30T23:30:00+03:00","reference":"loan-1","payerPhone":"255700000001","payerName":"Asha"}',
    answer: '{"status":"received"}',
    payment: { receipt: 'C-1', amount: 1_500.5, reference: 'loan-1', valueDate: '2026-01-30', payerName: 'Asha' },
  },
  {
    adapter: 'daraja_c2b',
    sent: '{"TransactionType":"Pay Bill","TransID":"RKTQDM7W6S","TransTime":"20260130233000","TransAmount":"1500.00","BusinessShortCode":"600638","BillRefNumber":"LOAN 1","InvoiceNumber":"","OrgAccountBalance":"49197.00","ThirdPartyTransID":"","MSISDN":"2547 ***** 126","FirstName":"John","MiddleName":"","LastName":"Doe"}',
    answer: '{"ResultCode":0,"ResultDesc":"Accepted"}',
    payment: {
      ...{ receipt: 'RKTQDM7W6S', amount: 1_500, reference: 'LOAN 1', valueDate: '2026-01-30' },
      ...{ paidAt: '2026-01-30T23:30:00.000+03:00', payerPhone: null, payerName: 'John Doe' },
    },
  },
  {
    adapter: 'mpesa_tz_broker',
    sent: '<?xml version="1.0" encoding="UTF-8"?><mpesaBroker xmlns="http://infowise.co.tz/broker/" version="2.0"><request><serviceProvider><spId>300300</spId><spPassword>NWE=</spPassword><timestamp>20260130233005</timestamp></serviceProvider><transaction><amount>1500.00</amount><commandID>Pay Bill</commandID><initiator>255754000001</initiator><originatorConversationID>orig-1</originatorConversationID><recipient>400200</recipient><mpesaReceipt>9AB1CD2EF3</mpesaReceipt><transactionDate>2026-01-30 23:30:00</transactionDate><accountReference>loan-1</accountReference><transactionID>tx-1</transactionID><conversationID>conv-1</conversationID></transaction></request></mpesaBroker>',
    answer:
      '<?xml version="1.0" encoding="UTF-8"?><mpesaBroker version="2.0"><response><conversationID>conv-1</conversationID><originatorConversationID>orig-1</originatorConversationID><responseCode>0</responseCode><responseDesc>Received</responseDesc><serviceStatus>Confirming</serviceStatus><transactionID>tx-1</transactionID></response></mpesaBroker>',
    payment: { receipt: '9AB1CD2EF3', amount: 1_500, payerPhone: '255754000001', valueDate: '2026-01-30' },
  },
  {
    adapter: 'mixx_billpay',
    sent: '<?xml version="1.0"?><COMMAND><TYPE>SYNC_BILLPAY_REQUEST</TYPE><TXNID>CO260130.2330.A1</TXNID><MSISDN>255713000001</MSISDN><AMOUNT>1500</AMOUNT><COMPANYNAME>400200</COMPANYNAME><CUSTOMERREFERENCEID>loan-1</CUSTOMERREFERENCEID><SENDERNAME>Asha &amp; Sons</SENDERNAME></COMMAND>',
    answer:
      '<?xml version="1.0" encoding="UTF-8"?><COMMAND><TYPE>SYNC_BILLPAY_RESPONSE</TYPE><TXNID>CO260130.2330.A1</TXNID><REFID>CO260130.2330.A1</REFID><RESULT>TS</RESULT><ERRORCODE>error000</ERRORCODE><MSISDN>255713000001</MSISDN><FLAG>Y</FLAG><CONTENT>Received</CONTENT></COMMAND>',
    payment: { receipt: 'CO260130.2330.A1', amount: 1_500, payerName: 'Asha & Sons', valueDate: '2026-01-31' },
  },
  {
    adapter: 'airtel',
    sent: '{"transactionId":"MP260130.2330.B1","amount":1500,"currency":"TZS","msisdn":"255784000001","accountNumber":"loan-1","businessShortCode":"400200"}',
    answer: '{"status":"received"}',
    payment: { receipt: 'MP260130.2330.B1', amount: 1_500, payerPhone: '255784000001' },
  },
  {
    adapter: 'mtn_collection',
    sent: '{"amount":"1500","currency":"TZS","financialTransactionId":"363440463","externalId":"loan-1","payer":{"partyIdType":"MSISDN","partyId":"256776000001"},"payerMessage":"loan","payeeNote":"","status":"SUCCESSFUL"}',
    answer: '{"status":"received"}',
    payment: { receipt: '363440463', amount: 1_500, payerPhone: '256776000001' },
  },
  {
    adapter: 'azampay',
    sent: '{"msisdn":"255765000001","amount":"1500","message":"Paid","utilityref":"loan-1","operator":"Tigo","reference":"az-77","transactionstatus":"success","submerchantAcc":""}',
    answer: '{"status":"received"}',
    payment: { receipt: 'az-77', amount: 1_500, payerPhone: '255765000001' },
  },
  {
    adapter: 'selcom',
    sent: '{"operator":"AIRTELMONEY","transid":"A1B2C3","reference":"0271082231","utilityref":"loan-1","amount":1500,"msisdn":"255682000001"}',
    answer: '{"reference":"0271082231","transid":"A1B2C3","resultcode":"000","result":"SUCCESS","message":"Received"}',
    payment: { receipt: 'A1B2C3', amount: 1_500, payerPhone: '255682000001' },
  },
  {
    adapter: 'pawapay',
    sent: '{"depositId":"f4401bd2-1568-4140-bf2d-eb77d2b2b639","status":"COMPLETED","amount":"1500","currency":"TZS","country":"TZA","payer":{"type":"MMO","accountDetails":{"phoneNumber":"255763000001","provider":"VODACOM_TZA"}},"clientReferenceId":"loan-1","created":"2026-01-30T20:30:00Z","providerTransactionId":"12356789"}',
    answer: '{"status":"received"}',
    payment: { receipt: 'f4401bd2-1568-4140-bf2d-eb77d2b2b639', amount: 1_500, payerPhone: '255763000001' },
  },
] as const
