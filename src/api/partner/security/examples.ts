import { identity, newLoan } from '../openapi/examples.ts'

// What secures the loan of the story: a guarantor who is no customer, and a vehicle.

const MADE = { createdAt: '2026-01-31T09:30:00.000+03:00', updatedAt: '2026-01-31T09:30:00.000+03:00' }

export const guarantorIdentity = { ...identity, firstName: 'Neema', phone: '+255 700 000 009' }

const guarantee = { relationship: 'Sister', amount: 50_000, until: '2026-12-31' }

export const newGuarantor = { identity: guarantorIdentity, ...guarantee }

export const guarantor = { id: '1', loanId: newLoan.id, ...guarantee, from: '2026-01-31', ...MADE }

export const release = { reason: 'Half of the loan is repaid' }

const released = { releasedOn: '2026-01-31', releaseReason: release.reason }

export const releasedGuarantor = { ...guarantor, ...released }

const vehicle = { kind: 'vehicle' as const, value: 2_500_000, valuedOn: '2026-01-30' }

export const newCollateral = { ...vehicle, description: 'Motorcycle, red, 2024', registration: 'MC 123 ABC' }

export const collateral = { id: '1', loanId: newLoan.id, ...vehicle, ...MADE }

export const releasedCollateral = { ...collateral, ...released }
