import type { Deps } from '../../deps.ts'
import { type Borrower, createBorrower, getBorrower, pageBorrowers, updateBorrower } from '../../services/borrowers.ts'
import type { StyleApp } from '../style.ts'
import {
  borrowerChanges,
  borrowerItem,
  borrowerList,
  borrowerQuery,
  newBorrower,
  toBorrower,
  toChanges,
  toDetails,
} from './borrowers.wire.ts'
import { byId, requireSameId, toItem, toList } from './registry.ts'

const tags = ['borrowers']

export function borrowerRoutes(app: StyleApp, deps: Deps): void {
  const view = (borrower: Borrower) => toBorrower(borrower, deps.config.zone)

  app.post(
    '/v1/borrowers',
    {
      config: { refusals: ['already_exists'] },
      schema: {
        tags,
        summary: 'Create a borrower',
        description: 'The same id with the same content answers the borrower again; with other content it is refused.',
        body: newBorrower,
        response: { 200: borrowerItem },
      },
    },
    async ({ caller, body }) => toItem(view(await createBorrower(deps, caller, body.id, toDetails(body)))),
  )

  app.put(
    '/v1/borrowers/:id',
    {
      schema: {
        tags,
        summary: 'Update a borrower',
        description: 'What is left out stays as it is; an empty text says that nothing is known.',
        params: byId,
        body: borrowerChanges,
        response: { 200: borrowerItem },
      },
    },
    async ({ caller, params: { id }, body }) => {
      requireSameId('id', id, body.id)
      return toItem(view(await updateBorrower(deps, caller, id, toChanges(body))))
    },
  )

  app.get(
    '/v1/borrowers',
    {
      schema: {
        tags,
        summary: 'List borrowers',
        description: 'In the order in which they came, whichever style made them.',
        querystring: borrowerQuery,
        response: { 200: borrowerList },
      },
    },
    async ({ caller, query }) => toList(await pageBorrowers(deps, caller, query), query, view),
  )

  app.get(
    '/v1/borrowers/:id',
    { schema: { tags, summary: 'Read a borrower', params: byId, response: { 200: borrowerItem } } },
    async ({ caller, params: { id } }) => toItem(view(await getBorrower(deps, caller, id))),
  )
}
