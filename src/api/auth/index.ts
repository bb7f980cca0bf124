import { requireBearer } from '../http/bearer.ts'
import { failureWords } from '../http/failure.ts'
import type { Style } from '../style.ts'
import { authenticateRoutes } from './authenticate.ts'
import { jwksRoutes } from './jwks.ts'
import { registerTokenSigner } from './jwt.ts'
import { registry } from './registry.ts'
import { tokenRoutes } from './token.ts'

/** The style of the host that issues tokens and states whose they are (contract 3). */
export const authStyle: Style = {
  name: 'auth',
  title: 'Mkopo: tokens',
  description: 'Issues the tokens that every other call needs, and says who a token belongs to.',
  tags: [{ name: 'tokens', description: 'Get a token, and ask whose a token is and what it may do.' }],
  chapters: [],
  registry,
  faultNames: {},
  failureBody: failureWords,
  async routes(app, deps) {
    await registerTokenSigner(app, deps)
    requireBearer(app, deps)
    await tokenRoutes(app, deps)
    authenticateRoutes(app, deps)
    jwksRoutes(app, deps)
  },
}
