import type { CauseName } from '../domain/payments/causes.ts'
import type { MatchReason } from '../domain/payments/matching.ts'
import type { Words } from './words.ts'

// The words of the office pages about payments. The Kiswahili has to be reviewed by a native speaker who works with loans.

export const paymentWords = {
  payment: ['Payment', 'Malipo'],
  payments: ['Payments', 'Malipo'],
  paymentsToMatch: ['Payments to match', 'Malipo ya kulinganisha'],
  channels: ['Channels', 'Njia za malipo'],
  channel: ['Channel', 'Njia'],
  suspense: ['In suspense', 'Yanayosubiri'],
  allocated: ['Allocated', 'Yaliyogawiwa'],
  returned: ['Paid back', 'Yaliyorudishwa'],
  takenBack: ['Taken back', 'Yaliyobatilishwa'],
  received: ['Received', 'Yaliyopokelewa'],
  receivedAt: ['Received at', 'Yalipokelewa saa'],
  paidAt: ['Paid at', 'Yalilipwa saa'],
  providerReceipt: ['Receipt', 'Stakabadhi'],
  payer: ['Payer', 'Mlipaji'],
  cause: ['Cause', 'Sababu'],
  candidates: ['Loans that it may be for', 'Mikopo inayoweza kuhusika'],
  noCandidate: ['No loan was found for it.', 'Hakuna mkopo uliopatikana kwa ajili yake.'],
  awaitsStatement: ['waits for the statement of the provider', 'yanasubiri taarifa ya mtoa huduma'],
  paymentsWait: ['Payments that wait for a loan, the oldest first', 'Malipo yanayosubiri mkopo, ya zamani kwanza'],
  allPayments: ['All payments', 'Malipo yote'],
  allPaymentsOldest: ['Payments, as they were received', 'Malipo, kama yalivyopokelewa'],
  waitingPayments: ['Payments in suspense', 'Malipo yanayosubiri'],
  noWaitingPayment: ['No payment waits.', 'Hakuna malipo yanayosubiri.'],
  noPayment: ['There is no payment.', 'Hakuna malipo.'],
  statusWaiting: ['waiting for a loan', 'yanayosubiri mkopo'],
  findLoan: ['Find another loan', 'Tafuta mkopo mwingine'],
  foundLoans: ['Loans that were found', 'Mikopo iliyopatikana'],
  repaymentsOf: ['Repayments of the payment', 'Marejesho ya malipo haya'],
  noRepayment: ['Nothing of it is with a loan.', 'Hakuna sehemu yake iliyo kwenye mkopo.'],
  messages: ['Messages of the provider', 'Ujumbe wa mtoa huduma'],
  noMessage: ['No message that is kept told of it.', 'Hakuna ujumbe uliohifadhiwa uliotaja malipo haya.'],
  outcome: ['What came of it', 'Matokeo'],
  allocate: ['Allocate', 'Gawa'],
  allocateToLoan: ['Allocate to loan {loan}', 'Gawa kwa mkopo {loan}'],
  returnPayment: ['Pay back to the payer', 'Mrudishie mlipaji'],
  reverseAllocations: ['Reverse the allocations', 'Batilisha mgao'],
  titleAllocate: ['Allocate payment {id} to loan {loan}', 'Gawa malipo {id} kwa mkopo {loan}'],
  titleReturn: ['Pay payment {id} back to the payer', 'Mrudishie mlipaji malipo {id}'],
  titleReverseAllocations: ['Reverse the allocations of payment {id}', 'Batilisha mgao wa malipo {id}'],
  meansAllocate: [
    'The loan gets a repayment with the day of the payment. Another amount leaves the rest in suspense.',
    'Mkopo unapata rejesho lenye tarehe ya malipo. Kiasi kingine kinaacha kilichobaki kikisubiri.',
  ],
  meansReturn: [
    'It notes money that you have sent back to the payer. The service moves no money.',
    'Inaandika fedha ulizomrudishia mlipaji. Huduma haihamishi fedha.',
  ],
  meansReverseAllocations: [
    'The loans become what they would be without these repayments, and the money is in suspense again.',
    'Mikopo inakuwa kama marejesho haya yasingekuwepo, na fedha zinasubiri tena.',
  ],
  askAllocate: [
    'Allocate {amount} {currency} of payment {receipt} to loan {loan} of {customer}?',
    'Ugawe {amount} {currency} za malipo {receipt} kwa mkopo {loan} wa {customer}?',
  ],
  changedPayment: [
    'The payment or the loan has changed since you looked. This is how it is now.',
    'Malipo au mkopo umebadilika tangu ulipoangalia. Hivi ndivyo ilivyo sasa.',
  ],
  paymentsOfToday: ['Payments of today', 'Malipo ya leo'],
  amountToday: ['Amount of today', 'Kiasi cha leo'],
  lastMessage: ['Last message', 'Ujumbe wa mwisho'],
  lastPaymentIn: ['Last payment', 'Malipo ya mwisho'],
  silentSince: ['Silent since', 'Kimya tangu'],
  adapter: ['Messages of', 'Ujumbe wa'],
  shortCode: ['Short code', 'Namba fupi'],
  channelsNow: ['Channels, with the payments of today', 'Njia, pamoja na malipo ya leo'],
  noChannel: ['There is no channel.', 'Hakuna njia.'],
  positions: ['Where the money of each channel is', 'Fedha za kila njia ziko wapi'],
  positionMeans: [
    'Received = allocated + in suspense + paid back + taken back.',
    'Yaliyopokelewa = yaliyogawiwa + yanayosubiri + yaliyorudishwa + yaliyobatilishwa.',
  ],
} as const satisfies Words

/** The ways in which a payment can name a loan. */
export const MATCH_WORDS = {
  loan_reference: ['the reference is the name of the loan', 'kumbukumbu ni kitambulisho cha mkopo'],
  account_number: ['the reference is the account number', 'kumbukumbu ni namba ya akaunti'],
  loan_reference_folded: [
    'the reference is the name of the loan, with O for 0 or I for 1',
    'kumbukumbu ni kitambulisho cha mkopo, O ikiwa 0 au I ikiwa 1',
  ],
  customer_reference: ['the reference is the name of the customer', 'kumbukumbu ni kitambulisho cha mteja'],
  customer_reference_folded: [
    'the reference is the name of the customer, with O for 0 or I for 1',
    'kumbukumbu ni kitambulisho cha mteja, O ikiwa 0 au I ikiwa 1',
  ],
  phone: ['the phone number of the payer', 'namba ya simu ya mlipaji'],
} as const satisfies Words<MatchReason>

/** Why money of a payment is with no loan. The English is what is kept. */
export const CAUSE_WORDS = {
  reference_fits_several: ['the reference fits {count} loans', 'kumbukumbu inalingana na mikopo {count}'],
  customer_fits_several: [
    'the customer of the reference fits {count} loans',
    'mteja wa kumbukumbu analingana na mikopo {count}',
  ],
  phone_fits_several: [
    'the phone number of the payer fits {count} loans',
    'namba ya simu ya mlipaji inalingana na mikopo {count}',
  ],
  reference_in_other_currency: [
    'the reference fits a loan in {lent}, and the payment is in {paid}',
    'kumbukumbu inalingana na mkopo wa {lent}, na malipo ni ya {paid}',
  ],
  customer_in_other_currency: [
    'the customer of the reference fits a loan in {lent}, and the payment is in {paid}',
    'mteja wa kumbukumbu analingana na mkopo wa {lent}, na malipo ni ya {paid}',
  ],
  phone_in_other_currency: [
    'the phone number of the payer fits a loan in {lent}, and the payment is in {paid}',
    'namba ya simu ya mlipaji inalingana na mkopo wa {lent}, na malipo ni ya {paid}',
  ],
  customer_without_loan: [
    'the customer of the reference fits a customer without an open loan',
    'kumbukumbu ni ya mteja asiye na mkopo ulio wazi',
  ],
  phone_without_loan: [
    'the phone number of the payer fits a customer without an open loan',
    'namba ya simu ya mlipaji ni ya mteja asiye na mkopo ulio wazi',
  ],
  no_loan: ['no loan fits the reference', 'hakuna mkopo unaolingana na kumbukumbu'],
  allocation_reversed: ['its allocation was reversed', 'mgao wake ulibatilishwa'],
  taken_back: ['reversed by the provider: {receipt}', 'yalibatilishwa na mtoa huduma: {receipt}'],
} as const satisfies Words<CauseName>

/** What became of a message of a provider. */
export const MESSAGE_WORDS = {
  pending: ['not read yet', 'haujasomwa bado'],
  done: ['read', 'umesomwa'],
  ignored: ['tells of no payment', 'hautaji malipo'],
  unreadable: ['cannot be read', 'hausomeki'],
} as const satisfies Words
