/** Whether a file has all loans of its day, or those alone whose lines would be others now. */
export const EXPORT_MODES = ['full', 'corrections'] as const
export type ExportMode = (typeof EXPORT_MODES)[number]

/** The states of a file. */
export const EXPORT_STATES = ['running', 'ready', 'accepted'] as const
export type ExportState = (typeof EXPORT_STATES)[number]

/** What became of a loan in a file. */
export const LINE_KINDS = ['accepted', 'excluded', 'exception'] as const
export type LineKind = (typeof LINE_KINDS)[number]

/** The ways in which a borrower is told that a loan will be listed. */
export const NOTICE_CHANNELS = ['sms', 'email', 'letter', 'call', 'in_person'] as const
export type NoticeChannel = (typeof NOTICE_CHANNELS)[number]

/** How a dispute ends: for the borrower, against the borrower, or taken back. */
export const DISPUTE_OUTCOMES = ['upheld', 'rejected', 'withdrawn'] as const
export type DisputeOutcome = (typeof DISPUTE_OUTCOMES)[number]
