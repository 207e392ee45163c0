// A certified OpenID Connect provider for tests. It logs in at once whoever it was told to by PUT /next, and asks nothing.
// Arguments: the folder with its packages, which is outside of the checkout, and the redirect URI of its one client.
// Prints its issuer when it listens, and ends with standard input.
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

const [packages, redirectUri] = process.argv.slice(2)
const { Provider } = await import(pathToFileURL(`${packages}/oidc-provider/lib/index.js`).href)
const people = new Map()
let next = null

const server = createServer()
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'kubeopera',
        client_secret: 'CANARY-client-secret+/=of:the%tests-0123456789',
        redirect_uris: [redirectUri],
      },
    ],
    scopes: ['openid', 'profile', 'email', 'groups'],
    claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email'], groups: ['groups'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/as/${interaction.uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...people.get(sub) }) }),
    // Nobody is asked for consent: the client is our own.
    loadExistingGrant: async (context) => {
      const grant = new provider.Grant({
        clientId: context.oidc.client.clientId,
        accountId: context.oidc.session.accountId,
      })
      grant.addOIDCScope('openid profile email groups')
      await grant.save()
      return grant
    },
    cookies: { keys: ['of the tests'] },
  })
  const answer = provider.callback()
  server.on('request', async (request, response) => {
    if (request.method === 'PUT' && request.url === '/next') {
      let body = ''
      for await (const chunk of request) body += chunk
      next = JSON.parse(body)
      if (next) people.set(next.sub, next.claims)
      response.writeHead(204).end()
    } else if (request.url.startsWith('/as/')) {
      const result = next ? { login: { accountId: next.sub } } : { error: 'access_denied' }
      await provider.interactionFinished(request, response, result)
    } else {
      answer(request, response)
    }
  })
  console.log(issuer)
})

process.stdin.resume().on('end', () => process.exit())
