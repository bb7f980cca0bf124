export type { Listed, Page } from '../db/loans.ts'
