export type { Listed, Page } from '../db/queries/paging.ts'
