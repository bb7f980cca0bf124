export type { Listed, Page } from '../db/paging.ts'
