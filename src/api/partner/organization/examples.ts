import { builtInRoles } from '../../../services/access/roles.ts'

/** A picture of one pixel. */
const LOGO = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const documented = {
  legalName: 'Demo Lender Microfinance Ltd',
  licenceNumber: 'MFB/0042',
  approvalAbove: 5_000_000,
  keepBorrowersYears: 7,
  keepOthersYears: 1,
}

export const changeOfOrganization = { ...documented, logo: LOGO }

export const organization = {
  id: '1',
  name: 'Demo Lender',
  ...documented,
  hasLogo: true,
  currencyCode: 'TZS',
  mode: 'live' as const,
  officeId: '1',
  officeName: 'Head Office',
  paymentMethod: 'Mobile Money',
}

/** The organization as it is at first. */
export const firstOrganization = {
  ...organization,
  legalName: null,
  licenceNumber: null,
  approvalAbove: null,
  keepBorrowersYears: null,
  keepOthersYears: null,
  hasLogo: false,
}

export const role = {
  name: 'cashier',
  permissions: ['repayments.post', 'reports.read'],
  description: 'takes repayments at the counter',
  builtIn: false,
}

export const putRole = { permissions: role.permissions, description: role.description }

export const roles = {
  items: [...builtInRoles().map(({ updatedAt: _, ...one }) => ({ ...one, permissions: [...one.permissions] }))],
}

const provider = {
  issuer: 'https://login.example.com/realms/lender',
  clientId: 'mkopo-office',
  roleClaim: 'groups',
  roles: { auditors: 'AUDITOR' },
}

export const updateOfficeSignIn = {
  secondFactorRequired: true,
  provider: { ...provider, clientSecret: 'the secret of the client' },
}

export const officeSignIn = { secondFactorRequired: true, provider }

export const passwordsAlone = { secondFactorRequired: false }
