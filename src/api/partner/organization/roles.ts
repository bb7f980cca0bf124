import { z } from 'zod'
import { PERMISSION_NAMES } from '../../../domain/access/permissions.ts'
import {
  deleteRole,
  getRole,
  LONGEST_DESCRIPTION,
  listRoles,
  MOST_ROLES,
  putRole,
  ROLE_NAME,
  ROLE_NAME_RULE,
  type RoleView,
} from '../../../services/access/roles.ts'
import type { Core } from '../../../services/deps.ts'
import { word } from '../../openapi/answers.ts'
import type { StyleApp } from '../../style.ts'
import { codec, Refused, text } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

const roleName = codec<string>(
  (value) => (typeof value === 'string' && ROLE_NAME.test(value) ? value : new Refused(ROLE_NAME_RULE)),
  {
    type: 'string',
    minLength: 1,
    maxLength: 40,
    pattern: ROLE_NAME.source,
    description: 'The name of the role: letters, digits, `_`, `.` and `-`, from a letter or digit on.',
    examples: [examples.role.name],
  },
)

const roleParams = z.object({ name: roleName })

const roleSchema = named(
  'Role',
  z.object({
    name: z.string(),
    permissions: z.array(word('What the role lets do', PERMISSION_NAMES)),
    description: z.string(),
    builtIn: z.boolean().describe('Whether every organization has the role; such a role cannot be changed.'),
  }),
  { example: examples.role },
)

const rolesSchema = named('Roles', z.object({ items: z.array(roleSchema) }), { example: examples.roles })

const updateRoleRequest = named(
  'UpdateRoleRequest',
  z.strictObject({
    permissions: z
      .array(z.enum(PERMISSION_NAMES as [string, ...string[]]))
      .min(1)
      .max(PERMISSION_NAMES.length),
    description: text({ min: 0, max: LONGEST_DESCRIPTION }).optional().describe('What the role is for.'),
  }),
  { example: examples.putRole },
)

const toRole = ({ name, permissions, description, builtIn }: RoleView) => ({
  name,
  permissions: [...permissions],
  description,
  builtIn,
})

const tags = ['organization']

/** Adds the roles of the organization: sets of permissions, which accounts and API keys have by name. */
export function roleRoutes(app: StyleApp, deps: Core): void {
  changingRoute(app, deps)
  readingRoutes(app, deps)
  // Last, as the others find the role.
  deletionRoute(app, deps)
}

function readingRoutes(app: StyleApp, deps: Core): void {
  app.get(
    '/v1/roles',
    {
      schema: {
        tags,
        operationId: 'listRoles',
        summary: 'List the roles',
        description: `The three that every organization has, and its own by name: at most ${MOST_ROLES}.`,
        response: { 200: rolesSchema },
      },
    },
    async ({ caller }) => ({ items: (await listRoles(deps, caller)).map(toRole) }),
  )

  app.get(
    '/v1/roles/:name',
    {
      schema: {
        tags,
        operationId: 'getRole',
        summary: 'Read a role',
        params: roleParams,
        response: { 200: roleSchema },
      },
    },
    async ({ caller, params: { name } }) => toRole(await getRole(deps, caller, name)),
  )
}

function changingRoute(app: StyleApp, deps: Core): void {
  app.put(
    '/v1/roles/:name',
    {
      config: {
        makesNamed: true,
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'There are as many roles as there may be.',
            `the organization has ${MOST_ROLES} roles, the most that there may be`,
          ],
        },
      },
      schema: {
        tags,
        operationId: 'updateRole',
        summary: 'Make or change a role',
        description:
          'Gives the role these permissions and no others, within 5 seconds for all who have it. You can give only permissions that you have.',
        params: roleParams,
        body: updateRoleRequest,
        response: { 200: roleSchema },
      },
    },
    async ({ caller, params: { name }, body }) => toRole(await putRole(deps, caller, name, body)),
  )
}

function deletionRoute(app: StyleApp, deps: Core): void {
  app.delete(
    '/v1/roles/:name',
    {
      config: {
        refusals: ['failed_precondition', 'invalid_argument'],
        explained: {
          failed_precondition: [
            'An account or an API key has the role.',
            'the role cannot be deleted: the account clerk@example.com has it',
          ],
          invalid_argument: ['The role is a built-in one.', 'name: must be a role that the organization has made'],
        },
      },
      schema: {
        tags,
        operationId: 'deleteRole',
        summary: 'Delete a role',
        description: 'Nobody may have it any more.',
        params: roleParams,
        response: { 204: z.null().describe('Deleted.') },
      },
    },
    async ({ caller, params: { name } }, reply) => {
      await deleteRole(deps, caller, name)
      return reply.code(204).send(null)
    },
  )
}
