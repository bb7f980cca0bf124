import type { Words } from './words.ts'

// The words of what an ADMIN does at the office pages. The Kiswahili has to be reviewed by a native speaker who works
// with loans.

export const actionWords = {
  actions: ['Actions', 'Vitendo'],
  reverse: ['Reverse', 'Batilisha'],
  adjust: ['Adjust', 'Rekebisha'],
  writeOff: ['Write off', 'Futa deni'],
  waive: ['Waive interest', 'Samehe riba'],
  charge: ['Charge', 'Toza'],
  closeCustomer: ['Close the customer', 'Mfunge mteja'],
  retire: ['Retire', 'Sitisha'],
  titleReverse: ['Reverse transaction {id} of loan {loan}', 'Batilisha muamala {id} wa mkopo {loan}'],
  titleAdjust: ['Adjust transaction {id} of loan {loan}', 'Rekebisha muamala {id} wa mkopo {loan}'],
  titleWriteOff: ['Write off loan {loan}', 'Futa deni la mkopo {loan}'],
  titleWaive: ['Waive interest of loan {loan}', 'Samehe riba ya mkopo {loan}'],
  titleCharge: ['Charge loan {loan}', 'Toza mkopo {loan}'],
  titleClose: ['Close customer {id}', 'Mfunge mteja {id}'],
  titleRetire: ['Retire product {id}', 'Sitisha bidhaa {id}'],
  meansReverse: [
    'The transaction stays visible as reversed; the loan becomes what it would be without it.',
    'Muamala unabaki kuonekana kama uliobatilishwa; mkopo unakuwa kama usingekuwepo.',
  ],
  meansAdjust: [
    'The transaction is reversed and posted again with another amount or value date; an amount of 0 only reverses it.',
    'Muamala unabatilishwa na kuandikwa tena kwa kiasi au tarehe nyingine; kiasi cha 0 kinabatilisha tu.',
  ],
  meansWriteOff: [
    'All that is outstanding is written off, and the loan is closed.',
    'Deni lote lililobaki linafutwa, na mkopo unafungwa.',
  ],
  meansWaive: [
    'Interest that is outstanding is given up, the oldest instalment first.',
    'Riba iliyobaki inasamehewa, rejesho la zamani kwanza.',
  ],
  meansCharge: ['A single fee or penalty is added to the loan.', 'Ada au adhabu moja inaongezwa kwenye mkopo.'],
  meansClose: ['A closed customer can take no new loan.', 'Mteja aliyefungwa hawezi kukopa tena.'],
  meansRetire: [
    'A retired product takes no new loans; those that were lent go on. It cannot be taken back.',
    'Bidhaa iliyositishwa haitoi mikopo mipya; iliyotolewa inaendelea. Haiwezi kurudishwa.',
  ],
  chargeName: ['Name of the charge', 'Jina la tozo'],
  chargeDue: ['Due on (today when empty)', 'Tarehe ya kulipa (leo ikiwa tupu)'],
  emptyIsToday: ['Value date (today when empty)', 'Tarehe ya malipo (leo ikiwa tupu)'],
  emptyIsSame: ['Value date (unchanged when empty)', 'Tarehe ya malipo (ileile ikiwa tupu)'],
  closureDate: ['Day of the closure (today when empty)', 'Siku ya kufunga (leo ikiwa tupu)'],
  preview: ['See what it becomes', 'Ona itakavyokuwa'],
  previewTitle: ['What it becomes', 'Utakavyokuwa'],
  now: ['Now', 'Sasa'],
  afterwards: ['Then', 'Baadaye'],
  confirm: ['Yes, do it', 'Ndiyo, fanya'],
  askAgain: [
    'Is this what you want? It is written into the audit trail with your name.',
    'Je, ndivyo unavyotaka? Itaandikwa kwenye kumbukumbu za ukaguzi kwa jina lako.',
  ],
  changedMeanwhile: [
    'The loan has changed since you looked. This is what it becomes now.',
    'Mkopo umebadilika tangu ulipoangalia. Hivi ndivyo utakavyokuwa sasa.',
  ],
  mayWait: [
    'Amounts above {amount} {currency} wait for a second ADMIN.',
    'Viwango vinavyozidi {amount} {currency} husubiri ADMIN wa pili.',
  ],
  approve: ['Approve', 'Idhinisha'],
  reject: ['Reject', 'Kataa'],
  withdraw: ['Withdraw', 'Ondoa'],
  titleApprove: ['Approve {action} of loan {loan}', 'Idhinisha {action} ya mkopo {loan}'],
  titleReject: ['Reject {action} of loan {loan}', 'Kataa {action} ya mkopo {loan}'],
  titleWithdraw: ['Withdraw {action} of loan {loan}', 'Ondoa {action} ya mkopo {loan}'],
  meansApprove: ['What was asked for is done now.', 'Kilichoombwa kinafanyika sasa.'],
  meansReject: [
    'Nothing is done. The one who asked sees your reason.',
    'Hakuna kinachofanyika. Aliyeomba ataona sababu yako.',
  ],
  meansWithdraw: ['Nothing is done.', 'Hakuna kinachofanyika.'],
  state_pending: ['waiting', 'yanayosubiri'],
  state_approved: ['approved', 'yaliyoidhinishwa'],
  state_rejected: ['rejected', 'yaliyokataliwa'],
  state_withdrawn: ['withdrawn', 'yaliyoondolewa'],
  pendingActions: ['Actions above the amount', 'Vitendo vinavyozidi kiasi'],
  noPending: ['There is none.', 'Hakuna.'],
  noThreshold: [
    'The organization has set no amount: no action waits for a second ADMIN.',
    'Shirika halijaweka kiasi: hakuna tendo linalosubiri ADMIN wa pili.',
  ],
  askedBy: ['Asked by', 'Aliyeomba'],
  askedAt: ['Asked at', 'Iliombwa'],
  decidedBy: ['Decided by', 'Aliyeamua'],
} as const satisfies Words

/** What the page says after an action, by the name in its address. */
export const doneWords = {
  doneReverse: ['The transaction is reversed.', 'Muamala umebatilishwa.'],
  doneAdjust: ['The transaction is adjusted.', 'Muamala umerekebishwa.'],
  doneWriteOff: ['The loan is written off.', 'Deni la mkopo limefutwa.'],
  doneWaive: ['The interest is waived.', 'Riba imesamehewa.'],
  doneCharge: ['The loan is charged.', 'Mkopo umetozwa.'],
  doneClose: ['The customer is closed.', 'Mteja amefungwa.'],
  doneRetire: ['The product is retired.', 'Bidhaa imesitishwa.'],
  doneWaits: ['It waits for a second ADMIN.', 'Inasubiri ADMIN wa pili.'],
  doneApprove: ['It is approved and done.', 'Imeidhinishwa na kufanyika.'],
  doneReject: ['It is rejected.', 'Imekataliwa.'],
  doneWithdraw: ['It is withdrawn.', 'Imeondolewa.'],
} as const satisfies Words
