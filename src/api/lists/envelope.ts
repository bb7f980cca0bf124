import { z } from 'zod'
import type { Range, Ranged } from '../../services/paging.ts'
import { count, total } from '../document/answers.ts'

/** Makes the members that the envelope of a list has in both styles, after its items. */
export const listMembers = () => ({
  total: total.optional().describe('Items on all pages together; of a page only.'),
  page: count.optional().describe('The number of this page, from 1; of a page only.'),
  rowsPerPage: count.describe('The most items that the answer has, as the request asked.'),
  next: z
    .string()
    .optional()
    .describe(
      'The cursor after the last item: send it as `after`. Absent where there is no item, and where the list is in an order of your choice.',
    ),
})

/** Returns the members of the envelope of a part of a list, after its items. */
export const membersOf = <T>({ total: all, next }: Ranged<T>, { page = 1, rows }: Range) => ({
  ...(all !== undefined && { total: all, page }),
  rowsPerPage: rows,
  ...(next !== undefined && { next }),
})
