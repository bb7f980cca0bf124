/** What kind of value a source has: a word is one of few, for which a map has the codes of the layout. */
export type ValueKind = 'text' | 'word' | 'date' | 'amount' | 'number' | 'rate'

/** The sources of values: the closed list from which formats choose. */
export const SOURCES = {
  'identity.firstName': 'text',
  'identity.middleName': 'text',
  'identity.lastName': 'text',
  'identity.fullName': 'text',
  'identity.dateOfBirth': 'date',
  'identity.gender': 'word',
  'identity.nationality': 'text',
  'identity.idType': 'word',
  'identity.idNumber': 'text',
  'identity.nationalId': 'text',
  'identity.passport': 'text',
  'identity.drivingLicence': 'text',
  'identity.voterId': 'text',
  'identity.phone': 'text',
  'identity.email': 'text',
  'identity.address': 'text',
  'customer.id': 'text',
  'customer.accountNo': 'text',
  'consent.bureau': 'word',
  'notice.sent': 'word',
  'loan.id': 'text',
  'loan.accountNo': 'text',
  'loan.externalId': 'text',
  'loan.currency': 'text',
  'loan.principal': 'amount',
  'loan.disbursedOn': 'date',
  'loan.firstDueOn': 'date',
  'loan.maturesOn': 'date',
  'loan.instalmentDueOn': 'date',
  'loan.instalmentAmount': 'amount',
  'loan.instalments': 'number',
  'loan.instalmentsLeft': 'number',
  'loan.termDays': 'number',
  'loan.termMonths': 'number',
  'loan.annualRate': 'rate',
  'loan.interestMethod': 'word',
  'loan.outstanding': 'amount',
  'loan.principalOutstanding': 'amount',
  'loan.interestOutstanding': 'amount',
  'loan.feesOutstanding': 'amount',
  'loan.penaltyOutstanding': 'amount',
  'loan.overdue': 'amount',
  'loan.paid': 'amount',
  'loan.writtenOff': 'amount',
  'loan.lastPaidOn': 'date',
  'loan.lastPaidAmount': 'amount',
  'loan.status': 'text',
  'loan.statusOn': 'date',
  'loan.endedOn': 'date',
  'loan.end': 'word',
  'loan.restructured': 'word',
  'loan.restructuredOn': 'date',
  'product.id': 'text',
  'product.name': 'text',
  'arrears.days': 'number',
  'arrears.since': 'date',
  'arrears.instalments': 'number',
  'arrears.class': 'text',
  'policy.bucket': 'text',
  'policy.class': 'text',
  'policy.stage': 'number',
  'policy.provision': 'amount',
  'export.asOf': 'date',
} as const satisfies Readonly<Record<string, ValueKind>>

export type SourceName = keyof typeof SOURCES

/** The sources that say the same of all loans of a file: the cells of a first row may have these. */
export const OF_FILES: readonly SourceName[] = ['export.asOf']

/** The words of the sources that have one of few. */
export const SOURCE_WORDS: Readonly<Partial<Record<SourceName, readonly string[]>>> = {
  'identity.gender': ['female', 'male', 'other'],
  'identity.idType': ['national_id', 'passport', 'alien_id', 'service_id', 'voter_id', 'driving_licence', 'other'],
  'consent.bureau': ['yes', 'no'],
  'notice.sent': ['yes', 'no'],
  'loan.interestMethod': ['flat', 'declining_equal_instalments', 'declining_equal_principal', 'interest_only'],
  'loan.end': ['paid_off', 'written_off'],
  'loan.restructured': ['yes', 'no'],
}

/** Returns whether a value of the source is told by the borrower, or of who the borrower is. */
export const isOfPerson = (source: SourceName): boolean => source.startsWith('identity.')
