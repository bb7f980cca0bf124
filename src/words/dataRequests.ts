import type { DataRequestKind, DataRequestState } from '../domain/customer/dataRequest.ts'
import type { Words } from './words.ts'

// The words of data requests: of their office pages, and of what a person is told. The Kiswahili has to be reviewed by a native
// speaker who knows the law of data protection.

/** The kinds of data requests. */
export const REQUEST_KIND_WORDS = {
  access: ['to know what is known', 'kujua taarifa zinazohifadhiwa'],
  rectification: ['to correct it', 'kurekebisha taarifa'],
  erasure: ['to be erased', 'kufuta taarifa'],
  restriction: ['to restrict its use', 'kuzuia matumizi ya taarifa'],
  objection: ['objection to its use', 'kupinga matumizi ya taarifa'],
} as const satisfies Words<DataRequestKind>

/** The states of data requests. */
export const REQUEST_STATE_WORDS = {
  open: ['open', 'linashughulikiwa'],
  waiting: ['waits for a second ADMIN', 'linasubiri ADMIN wa pili'],
  done: ['done', 'limekamilika'],
  refused: ['refused', 'limekataliwa'],
  withdrawn: ['withdrawn', 'limeondolewa'],
} as const satisfies Words<DataRequestState>

/** The words of the office pages. */
export const dataRequestWords = {
  ask_access: REQUEST_KIND_WORDS.access,
  ask_rectification: REQUEST_KIND_WORDS.rectification,
  ask_erasure: REQUEST_KIND_WORDS.erasure,
  ask_restriction: REQUEST_KIND_WORDS.restriction,
  ask_objection: REQUEST_KIND_WORDS.objection,
  request_open: REQUEST_STATE_WORDS.open,
  request_waiting: REQUEST_STATE_WORDS.waiting,
  request_done: REQUEST_STATE_WORDS.done,
  request_refused: REQUEST_STATE_WORDS.refused,
  request_withdrawn: REQUEST_STATE_WORDS.withdrawn,
  dataRequests: ['Data requests', 'Maombi ya taarifa binafsi'],
  dataRequest: ['Data request', 'Ombi la taarifa binafsi'],
  noDataRequest: ['There is no data request.', 'Hakuna ombi la taarifa binafsi.'],
  undecided: ['not decided, due first', 'yasiyoamuliwa, ya karibuni kwanza'],
  answerBy: ['Answer by', 'Kujibu kabla ya kuisha'],
  isLate: ['overdue', 'limechelewa'],
  answerGiven: ['Answer to the person', 'Jibu kwa mtu'],
  obstacles: ['What was against it', 'Yaliyozuia'],
  proposedByService: ['the service: the time is over', 'huduma: muda umekwisha'],
  decidedAt: ['Decided at', 'Liliamuliwa'],
  retention: ['How long people are kept', 'Muda wa kuhifadhi taarifa za watu'],
  keepsBorrowers: [
    'Borrowers, years after the last loan was closed',
    'Wakopaji, miaka baada ya mkopo wa mwisho kufungwa',
  ],
  keepsOthers: ['Others, years after they were told of last', 'Wengine, miaka baada ya taarifa ya mwisho'],
  notSet: ['{years} (not set: nothing is proposed)', '{years} (haijawekwa: hakuna kinachopendekezwa)'],
  retentionMeans: [
    'An ADMIN sets them over the API. Once a time is over the service proposes an erasure, and people decide.',
    'ADMIN huziweka kupitia API. Muda ukiisha huduma hupendekeza kufuta taarifa, na watu huamua.',
  ],
  resultMeans: [
    'All that is known of the person. The trail keeps who has taken it, and nothing of it is kept.',
    'Taarifa zote za mtu huyu. Kumbukumbu zinaandika aliyezichukua, na nakala haihifadhiwi.',
  ],
  resultJson: ['For machines (JSON)', 'Ya mashine (JSON)'],
  resultEnglish: ['PDF in English', 'PDF kwa Kiingereza'],
  resultKiswahili: ['PDF in Kiswahili', 'PDF kwa Kiswahili'],
  askForData: ['Keep what the person asks for', 'Rekodi ombi la mtu'],
  titleAskForData: ['What customer {id} asks for', 'Ombi la mteja {id}'],
  meansAskForData: [
    'It has to be answered within 7 days. An erasure waits for another ADMIN, and is refused at once where something is against it.',
    'Linapaswa kujibiwa ndani ya siku 7. Kufuta taarifa kunasubiri ADMIN mwingine, na kunakataliwa mara moja pakiwa na kizuizi.',
  ],
  reasonInWords: ['In the words of the person', 'Kwa maneno ya mtu'],
  completeRequest: ['Complete', 'Kamilisha'],
  refuseRequest: ['Refuse', 'Kataa'],
  withdrawRequest: ['Withdraw', 'Ondoa'],
  eraseNow: ['Erase the person', 'Futa taarifa za mtu'],
  eraseByAnother: [
    'You asked for the erasure: another ADMIN has to confirm it.',
    'Wewe ndiye uliyeomba kufuta: ADMIN mwingine lazima athibitishe.',
  ],
  titleCompleteRequest: ['Complete data request {id}', 'Kamilisha ombi la taarifa {id}'],
  meansCompleteRequest: [
    'What was asked for is done, and the person is answered.',
    'Kilichoombwa kimefanyika, na mtu amejibiwa.',
  ],
  titleRefuseRequest: ['Refuse data request {id}', 'Kataa ombi la taarifa {id}'],
  meansRefuseRequest: ['Nothing is done. Say why, for the person.', 'Hakuna kinachofanyika. Eleza sababu kwa mtu.'],
  titleWithdrawRequest: ['Withdraw data request {id}', 'Ondoa ombi la taarifa {id}'],
  meansWithdrawRequest: ['The person does not ask for it any more.', 'Mtu haombi tena.'],
  titleErase: ['Erase customer {customer}', 'Futa taarifa za mteja {customer}'],
  meansErase: [
    'This cannot be undone: nobody will be able to read any more who the customer is, in this book, its trail, or a backup that is made from now on. Loans, amounts and dates stay.',
    'Hili haliwezi kutenguliwa: hakuna atakayeweza kusoma tena mteja ni nani, kwenye kitabu hiki, kumbukumbu zake, wala nakala itakayofanywa kuanzia sasa. Mikopo, viwango na tarehe vinabaki.',
  ],
  noteForPerson: ['Answer to the person', 'Jibu kwa mtu'],
} as const satisfies Words

/** The words of what a person is told. */
export const RESULT_WORDS = {
  title: ['What we know about you', 'Taarifa zako tulizo nazo'],
  customerNumber: ['Customer number', 'Namba ya mteja'],
  foot: ['Made on {day} in answer to data request {id}', 'Imetengenezwa {day} kujibu ombi la taarifa {id}'],
  you: ['You', 'Wewe'],
  businessName: ['Name of the business', 'Jina la biashara'],
  type: ['Kind of borrower', 'Aina ya mkopaji'],
  region: ['Region', 'Mkoa'],
  country: ['Country', 'Nchi'],
  closedOn: ['Closed on', 'Ilifungwa tarehe'],
  closeReason: ['Why closed', 'Sababu ya kufungwa'],
  since: ['With us since', 'Mteja tangu'],
  loan: ['Loan {id}', 'Mkopo {id}'],
  rate: ['Interest per instalment, percent', 'Riba kwa rejesho, asilimia'],
  noLoan: ['You have had no loan.', 'Hujawahi kupata mkopo.'],
  guarantees: ['Loans of others for which you answer', 'Mikopo ya wengine unayoidhamini'],
  payments: ['Payments', 'Malipo'],
  paidBy: ['Paid by', 'Aliyelipa'],
  decisions: ['Decisions about scores and limits', 'Maamuzi ya alama na vikomo'],
  score: ['score', 'alama'],
  boost: ['statement for a higher limit', 'taarifa kwa kikomo kikubwa zaidi'],
  outcome_raised: ['raised', 'kimeongezwa'],
  outcome_unchanged: ['not raised', 'hakijaongezwa'],
  outcome_cooldown: ['too soon after the last', 'mapema mno baada ya awali'],
  policy: ['by policy {version}', 'kwa sera {version}'],
  documents: ['Statements and receipts that were made', 'Taarifa na stakabadhi zilizotengenezwa'],
  requests: ['Your data requests', 'Maombi yako ya taarifa'],
  notices: ['What we told you before a listing', 'Tulichokuarifu kabla ya kukuorodhesha'],
  notice_sms: ['by SMS', 'kwa SMS'],
  notice_email: ['by e-mail', 'kwa barua pepe'],
  notice_letter: ['by letter', 'kwa barua'],
  notice_call: ['by telephone', 'kwa simu'],
  notice_in_person: ['in person', 'ana kwa ana'],
  disputes: ['What you disputed', 'Ulichopinga'],
  dispute_open: ['open', 'haijaamuliwa'],
  dispute_upheld: ['upheld', 'imekubaliwa'],
  dispute_rejected: ['rejected', 'imekataliwa'],
  dispute_withdrawn: ['withdrawn', 'imeondolewa'],
  files: [
    'Files for credit bureaux and supervisors that have your loans',
    'Faili za taasisi za mikopo na wasimamizi zenye mikopo yako',
  ],
  fileTaken: ['taken', 'imepokelewa'],
} as const satisfies Words
