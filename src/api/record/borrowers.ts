import { hasPermission } from '../../domain/access/permissions.ts'
import type { Identity } from '../../domain/customer/identity.ts'
import type { Caller } from '../../services/access/caller.ts'
import { scoresOf } from '../../services/credit/credit.ts'
import {
  type Borrower,
  createBorrower,
  getBorrower,
  listBorrowers,
  updateBorrower,
} from '../../services/customers/borrowers.ts'
import { getIdentity, identifyCustomer } from '../../services/customers/customers.ts'
import type { Core, Deps } from '../../services/deps.ts'
import { rangeOf } from '../lists/query.ts'
import type { StyleApp } from '../style.ts'
import {
  type BorrowerView,
  borrowerItem,
  borrowerList,
  borrowerQuery,
  createBorrowerRequest,
  identityIn,
  toBorrower,
  toBorrowerFilter,
  toChanges,
  toNewBorrower,
  updateBorrowerRequest,
} from './borrowers.wire.ts'
import * as examples from './openapi/examples.ts'
import { byId, made, requireSameId, toItem, toList } from './registry.ts'

const tags = ['borrowers']

/** Adds the current score to a borrower. @param identity who the borrower is, for a caller who may read that */
export async function scored(
  deps: Core,
  caller: Caller,
  borrower: Borrower,
  identity?: Identity,
): Promise<BorrowerView> {
  const scores = await scoresOf(deps, caller, [borrower.id])
  return toBorrower(borrower, deps.config.zone, scores.get(borrower.id), identity)
}

export function borrowerRoutes(app: StyleApp, deps: Deps): void {
  writeRoutes(app, deps)
  readRoutes(app, deps)
}

function writeRoutes(app: StyleApp, deps: Deps): void {
  const item = async (caller: Caller, borrower: Borrower) => toItem(await scored(deps, caller, borrower))

  app.post(
    '/v1/borrowers',
    {
      config: { refusals: ['already_exists'] },
      schema: {
        tags,
        operationId: 'createBorrower',
        summary: 'Create a borrower',
        description: 'The same id with the same content answers the borrower again; with other content it is refused.',
        body: createBorrowerRequest,
        response: { 200: borrowerItem },
      },
    },
    async ({ caller, body }, reply) =>
      item(caller, made(reply, await createBorrower(deps, caller, toNewBorrower(body)))),
  )

  app.put(
    '/v1/borrowers/:id',
    {
      config: { examples: { Updated: toItem(examples.changedBorrower) } },
      schema: {
        tags,
        operationId: 'updateBorrower',
        summary: 'Update a borrower',
        description: 'What is left out stays as it is; an empty text says that nothing is known.',
        params: byId,
        body: updateBorrowerRequest,
        response: { 200: borrowerItem },
      },
    },
    async ({ caller, params: { id }, body }) => {
      requireSameId('id', id, body.id)
      const borrower = await updateBorrower(deps, caller, id, toChanges(body))
      if (body.identity === undefined) return item(caller, borrower)
      await identifyCustomer(deps, caller, { id }, identityIn(body.identity))
      return item(caller, await getBorrower(deps, caller, id))
    },
  )
}

function readRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config

  app.get(
    '/v1/borrowers',
    {
      schema: {
        tags,
        operationId: 'listBorrowers',
        summary: 'List borrowers',
        description: 'In the order in which they came, whichever style made them. An item must match all filters.',
        querystring: borrowerQuery,
        response: { 200: borrowerList },
      },
    },
    async ({ caller, query }) => {
      const page = await listBorrowers(deps, caller, toBorrowerFilter(query, zone), rangeOf(query))
      const ids = page.items.map(({ id }) => id)
      const scores = await scoresOf(deps, caller, ids)
      return toList(page, query, (borrower) => toBorrower(borrower, zone, scores.get(borrower.id)))
    },
  )

  app.get(
    '/v1/borrowers/:id',
    {
      schema: {
        tags,
        operationId: 'getBorrower',
        summary: 'Read a borrower',
        description: 'Whichever style made it, with the score as of now; for an ADMIN with who the borrower is.',
        params: byId,
        response: { 200: borrowerItem },
      },
    },
    async ({ caller, params: { id } }) => {
      const borrower = await getBorrower(deps, caller, id)
      const identity = hasPermission(caller, 'people.read') ? await getIdentity(deps, caller, { id }) : undefined
      return toItem(await scored(deps, caller, borrower, identity))
    },
  )
}
