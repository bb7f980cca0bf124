import type { ContactChannel, ContactOutcome } from '../domain/collections/contact.ts'
import type { HoldKind } from '../domain/collections/hold.ts'
import type { PromiseState } from '../domain/collections/promise.ts'
import type { Words } from './words.ts'

// The words of collections: of the office pages, and of what a person is told. The Kiswahili has to be reviewed by a native speaker
// who works with loans.

/** How a customer was contacted. */
const CHANNEL_WORDS = {
  way_call: ['call', 'simu'],
  way_sms: ['SMS', 'SMS'],
  way_whatsapp: ['WhatsApp', 'WhatsApp'],
  way_visit: ['visit', 'kutembelea'],
  way_email: ['e-mail', 'barua pepe'],
  way_letter: ['letter', 'barua'],
  way_office: ['at the office', 'ofisini'],
  way_other: ['other', 'nyingine'],
} as const satisfies Words<`way_${ContactChannel}`>

/** What came of a contact. */
const OUTCOME_WORDS = {
  came_reached: ['reached', 'alipatikana'],
  came_promised: ['promised to pay', 'aliahidi kulipa'],
  came_refused: ['refuses to pay', 'anakataa kulipa'],
  came_disputed: ['disputes the loan', 'anapinga mkopo'],
  came_message_left: ['message left', 'ujumbe uliachwa'],
  came_no_answer: ['no answer', 'hakujibu'],
  came_wrong_number: ['wrong number', 'namba si sahihi'],
  came_other: ['other', 'nyingine'],
} as const satisfies Words<`came_${ContactOutcome}`>

/** What became of a promise. */
const STATE_WORDS = {
  promise_open: ['open', 'inasubiri'],
  promise_kept: ['kept', 'imetimizwa'],
  promise_broken: ['broken', 'imevunjwa'],
  promise_cancelled: ['cancelled', 'imefutwa'],
} as const satisfies Words<`promise_${PromiseState}`>

/** What is held. */
const HOLD_WORDS = {
  hold_penalties: ['penalties', 'adhabu'],
  hold_reminders: ['reminders', 'vikumbusho'],
  hold_listing: ['listing at bureaux', 'kuorodheshwa kwenye taasisi za taarifa'],
} as const satisfies Words<`hold_${HoldKind}`>

export const collectionWords = {
  ...CHANNEL_WORDS,
  ...OUTCOME_WORDS,
  ...STATE_WORDS,
  ...HOLD_WORDS,
  contacts: ['Contacts', 'Mawasiliano'],
  noContact: ['Nobody has contacted the customer yet.', 'Bado hakuna aliyewasiliana na mteja.'],
  contactWay: ['How', 'Njia'],
  contactCame: ['Outcome', 'Matokeo'],
  contactedAt: ['When', 'Lini'],
  nextAction: ['Next action', 'Hatua ifuatayo'],
  promises: ['Promises', 'Ahadi'],
  noPromise: ['Nothing was promised.', 'Hakuna kilichoahidiwa.'],
  promisedUntil: ['By', 'Kabla ya kuisha'],
  promiseState: ['Promise', 'Ahadi'],
  receivedOfIt: ['Received', 'Kilichopokelewa'],
  holds: ['Holds', 'Zilizosimamishwa'],
  noHold: ['Nothing is on hold.', 'Hakuna kilichosimamishwa.'],
  held: ['On hold', 'Imesimamishwa'],
  heldUntil: ['Until', 'Hadi'],
  workList: ['Whom to call', 'Wa kupigiwa simu'],
  workListMeans: [
    'Loans that are overdue, and those whose next action is due. Figures are of now.',
    'Mikopo iliyochelewa, na ile ambayo hatua yake ifuatayo imefika. Takwimu ni za sasa.',
  ],
  nobodyToCall: ['There is nobody to call.', 'Hakuna wa kupigiwa simu.'],
  brokenPromises: ['Broken promises', 'Ahadi zilizovunjwa'],
  lastContact: ['Last contact', 'Mawasiliano ya mwisho'],
  officer: ['Officer', 'Afisa'],
  anyOfficer: ['all officers', 'maafisa wote'],
  myLoans: ['my loans', 'mikopo yangu'],
  loansOfNobody: ['loans that nobody has', 'mikopo isiyo na afisa'],
  workFirst: ['First', 'Kwanza'],
  first_daysPastDue: ['the longest overdue', 'iliyochelewa zaidi'],
  first_overdue: ['the largest amount overdue', 'kiasi kikubwa kilichochelewa'],
  first_brokenPromises: ['the most broken promises', 'ahadi nyingi zilizovunjwa'],
  first_nextOn: ['the next action', 'hatua ifuatayo'],
  nextLoans: ['More', 'Zaidi'],
  collectionsOf: ['Collections', 'Ufuatiliaji'],
  recordContact: ['Record a contact', 'Rekodi mawasiliano'],
  titleContact: ['Record a contact with customer {id}', 'Rekodi mawasiliano na mteja {id}'],
  meansContact: [
    'The newest contact says on which day the list of whom to call has the loan next.',
    'Mawasiliano mapya zaidi huonyesha siku ambayo mkopo utaonekana tena kwenye orodha ya kupigiwa simu.',
  ],
  recordPromise: ['Record a promise', 'Rekodi ahadi'],
  titlePromise: ['Record a promise on loan {id}', 'Rekodi ahadi ya mkopo {id}'],
  meansPromise: [
    'At the end of its day it is kept or broken, by the days of the repayments.',
    'Mwisho wa siku yake huhesabiwa kuwa imetimizwa au imevunjwa, kwa tarehe za malipo.',
  ],
  cancelPromise: ['Cancel', 'Futa'],
  titleCancelPromise: ['Cancel promise {id}', 'Futa ahadi {id}'],
  meansCancelPromise: ['It is neither kept nor broken then.', 'Haitahesabiwa kuwa imetimizwa wala kuvunjwa.'],
  holdLoan: ['Put on hold', 'Simamisha'],
  titleHold: ['Put something of loan {id} on hold', 'Simamisha jambo la mkopo {id}'],
  meansHold: [
    'Penalties: none is raised on these days. Reminders: the borrower is not reminded. Listing: files for bureaux leave the loan out.',
    'Adhabu: haitozwi siku hizi. Vikumbusho: mkopaji hakumbushwi. Kuorodheshwa: mkopo hautumwi kwa taasisi za taarifa.',
  ],
  releaseHold: ['Release', 'Achilia'],
  titleReleaseHold: ['Release hold {id}', 'Achilia kilichosimamishwa {id}'],
  meansReleaseHold: ['It counts no longer from today on.', 'Hakitumiki tena kuanzia leo.'],
  assignLoan: ['Give to an officer', 'Mpe afisa'],
  titleAssign: ['Give loan {id} to an officer', 'Mpe afisa mkopo {id}'],
  meansAssign: [
    'The officer has the loan in the list of whom to call. Nobody: choose the empty line.',
    'Afisa ataona mkopo kwenye orodha ya kupigiwa simu. Hakuna afisa: chagua mstari mtupu.',
  ],
  repay: ['Repayment', 'Rejesho'],
  titleRepay: ['Post a repayment of loan {loan}', 'Andika rejesho la mkopo {loan}'],
  meansRepay: [
    'Money that the customer paid, on the day on which it was paid. The receipt is linked on the next page.',
    'Pesa aliyolipa mteja, siku aliyolipa. Risiti itakuwa kwenye ukurasa unaofuata.',
  ],
  lastReceipt: ['Receipt of the repayment', 'Risiti ya rejesho'],
  newCustomer: ['New customer', 'Mteja mpya'],
  meansNewCustomer: [
    'The externalId is the name of the customer for good, such as a number of your own. Who it is is kept encrypted.',
    'externalId ni jina la kudumu la mteja, kama namba yenu wenyewe. Taarifa zake huhifadhiwa kwa siri.',
  ],
  newExternalId: ['externalId', 'externalId'],
  lend: ['New loan', 'Mkopo mpya'],
  titleLend: ['New loan for {name}', 'Mkopo mpya wa {name}'],
  meansLend: [
    'The next page is the quote: what the loan costs and when it is due. It is disbursed when the quote is confirmed.',
    'Ukurasa unaofuata ni makadirio: gharama ya mkopo na tarehe za kulipa. Mkopo hutolewa makadirio yakithibitishwa.',
  ],
  newLoanExternalId: ['externalId of the loan (may be left out)', 'externalId ya mkopo (si lazima)'],
  paidOut: ['Paid out', 'Kinachotolewa'],
  totalDue: ['To be repaid', 'Kitakacholipwa'],
  apr: ['Annual percentage rate', 'Kiwango cha gharama kwa mwaka'],
  growth: ['Growth', 'Ukuaji'],
  growthMeans: [
    'The last 24 months up to {day}: disbursed by day of disbursement, collected by value date, outstanding by the journal.',
    'Miezi 24 iliyopita hadi {day}: iliyotolewa kwa siku ya kutolewa, iliyokusanywa kwa tarehe ya malipo, iliyobaki kwa jarida.',
  ],
  outstandingByMonth: ['Principal outstanding by month, {currency}', 'Mtaji uliobaki kwa mwezi, {currency}'],
  principalOutIn: ['Principal outstanding, {currency}', 'Mtaji uliobaki, {currency}'],
  movedByMonth: ['Disbursed and collected by month, {currency}', 'Iliyotolewa na iliyokusanywa kwa mwezi, {currency}'],
  byMonth: ['By month', 'Kwa mwezi'],
  month: ['Month', 'Mwezi'],
  disbursedSum: ['Disbursed', 'Iliyotolewa'],
  collectedSum: ['Collected', 'Iliyokusanywa'],
  forecast: ['What falls due', 'Itakayopaswa kulipwa'],
  dueByWeek: ['What falls due by week, {currency}', 'Itakayopaswa kulipwa kwa wiki, {currency}'],
  dueIn: ['Falls due in the week, {currency}', 'Ya kulipwa katika wiki, {currency}'],
  week: ['Week', 'Wiki'],
  instalments: ['Instalments', 'Marejesho'],
  fallsDue: ['Falls due', 'Ya kulipwa'],
  cohorts: ['Loans by month of disbursement', 'Mikopo kwa mwezi wa kutolewa'],
  openLoans: ['Open', 'Inayoendelea'],
  byOfficer: ['Portfolio at risk by officer', 'Mikopo iliyo hatarini kwa afisa'],
  foldedMenu: ['Menu', 'Menyu'],
  nobody: ['nobody', 'hakuna'],
  promisedAmount: ['Amount promised', 'Kiasi kilichoahidiwa'],
  promisedDay: ['Last day', 'Siku ya mwisho'],
  heldKind: ['What', 'Kipi'],
} as const satisfies Words
