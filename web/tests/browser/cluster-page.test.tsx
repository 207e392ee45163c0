import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { cluster, fleet, problem, session, stepsTo } from './fixtures'
import { open, Server } from './kubeopera'

const phases = page.getByRole('region', { name: 'Phases' })

function serving() {
  const server = new Server()
  server.clusters = fleet()
  return server
}

test('a card leads to the page of its cluster, which names itself, and Back leads to the list', async () => {
  serving()
  const { router } = await open('/clusters')
  await page.getByRole('link', { name: 'oslo-edge-lab' }).click()
  await expect.element(page.getByRole('heading', { name: 'oslo-edge-lab', level: 1 })).toHaveFocus()
  expect(router.state.location.pathname).toBe('/clusters/c-4')
  await expect.poll(() => document.title).toBe('oslo-edge-lab · KubeOpera')
  await expect.element(page.getByRole('navigation', { name: 'Breadcrumb' })).toHaveTextContent('Clusters/oslo-edge-lab')
  router.history.back()
  await expect.element(page.getByRole('article', { name: 'oslo-edge-lab' })).toBeVisible()
})

test('an address from outside shows the cluster, and one without a cluster says so', async () => {
  serving()
  await open('/clusters/c-4')
  await expect.element(page.getByRole('heading', { name: 'oslo-edge-lab', level: 1 })).toBeVisible()
  await expect.element(page.getByText('1 of 1')).toBeVisible()
  await (await open('/clusters/none')).screen.unmount
  await expect.element(page.getByText('KubeOpera has no such cluster')).toBeVisible()
})

test('each phase tells when it began and ended and how long it took', async () => {
  serving()
  await open('/clusters/7e9d3a1b-5f60-4c1e-9a53-0c2f7f5a9d11')
  const steps = phases.getByRole('listitem')
  await expect.element(steps.nth(1)).toHaveTextContent(/^GeneratingGitOpsTree, done.*18.s/)
  await expect.element(steps.nth(3)).toHaveTextContent(/^Ready, done.*now/)
})

const past = (change = {}) => ({
  count: 7,
  first_at: new Date(Date.now() - 40 * 60_000).toISOString(),
  last_at: new Date(Date.now() - 3 * 60_000).toISOString(),
  message: 'The repository refused the push.',
  ...change,
})

test('a phase that is done tells how many attempts failed before, and why the last of them did', async () => {
  const server = serving()
  server.clusters = [cluster({ phases: stepsTo('Ready').map((step) => ({ ...step, failed_attempts: past() })) })]
  const { screen } = await open('/clusters/7e9d3a1b-5f60-4c1e-9a53-0c2f7f5a9d11')
  const steps = phases.getByRole('listitem')
  await expect
    .element(steps.nth(1))
    .toHaveTextContent(
      /^GeneratingGitOpsTree, done.*7 attempts failed first, the last 3.min ago: The repository refused/,
    )
  await expect.element(steps.nth(3)).not.toHaveTextContent('failed')
  await screen.unmount()

  server.clusters = [
    cluster({ phases: stepsTo('Ready').map((step) => ({ ...step, failed_attempts: past({ count: 1 }) })) }),
  ]
  await open('/clusters/7e9d3a1b-5f60-4c1e-9a53-0c2f7f5a9d11')
  await expect.element(steps.nth(0)).toHaveTextContent(/1 attempt failed first/)
})

test('attempts of a phase in trouble are counted since the phase began, also those before somebody asked for another', async () => {
  const server = serving()
  server.clusters = server.clusters.map((known) => ({
    ...known,
    phases: known.phases.map((step) => (step.state === 'failed' ? { ...step, failed_attempts: past() } : step)),
  }))
  await open('/clusters/c-2')
  const step = phases.getByRole('listitem').nth(0)
  await expect.element(step).toHaveTextContent(/7 attempts failed since 40.min ago\. Next in 1.min/)
  await expect.element(step).not.toHaveTextContent('failed first')
})

test('the page follows its cluster as things happen', async () => {
  const server = serving()
  await open('/clusters/c-3')
  await expect.element(page.getByText('Live', { exact: true })).toBeVisible()
  await expect.element(phases.getByRole('listitem').nth(2)).toHaveTextContent(/^GeneratingGitOpsTree, under way/)
  server.update(cluster({ ...server.clusters[2], phase: 'Ready', phases: stepsTo('Ready'), revision: 10_000 }))
  await expect.element(page.getByText('Ready', { exact: true }).first()).toBeVisible()
  server.emit('cluster.removed', { id: 'c-3' })
  await expect.element(page.getByText('KubeOpera has no such cluster')).toBeVisible()
})

test('a phase in trouble tells the last error, the attempts and the next one, and can be tried again at once', async () => {
  const server = serving()
  server.on('POST /api/v1/clusters/c-2/retry', () => ({
    status: 202,
    body: cluster({ ...server.clusters[1], message: 'Asked for another attempt.', revision: 10_000 }),
  }))
  await open('/clusters/c-2')
  const step = phases.getByRole('listitem').nth(0)
  await expect
    .element(step)
    .toHaveTextContent(/AWS refused ec2:CreateVpc.*3 attempts failed since 12.min ago\. Next in 1.min/)
  await step.getByRole('button', { name: 'Try again now' }).click()
  await expect.element(page.getByText('Trying prod-payments-euw1 again')).toBeVisible()
  await expect.element(page.getByText('Asked for another attempt.').first()).toBeVisible()
})

test('a refusal to try again says why', async () => {
  const server = serving()
  server.on('POST /api/v1/clusters/c-2/retry', {
    status: 409,
    body: problem(409, 'being_removed', 'KubeOpera is just letting go of this cluster.'),
  })
  await open('/clusters/c-2')
  await phases.getByRole('button', { name: 'Try again now' }).click()
  await expect.element(page.getByText('prod-payments-euw1 could not be tried again')).toBeVisible()
  await expect.element(page.getByText('KubeOpera is just letting go of this cluster.')).toBeVisible()
})

test('a cluster that does not answer says so on its card and its page, with the reason', async () => {
  const server = new Server()
  const since = new Date(Date.now() - 3 * 60_000).toISOString()
  server.clusters = [cluster({ unreachable: { since, reason: 'The API server does not accept the connection.' } })]
  await open('/clusters')
  await expect.element(page.getByRole('article')).toHaveTextContent(/No answer for 3.min/)
  await page.getByRole('link', { name: 'kubeopera-host' }).click()
  await expect.element(page.getByText('KubeOpera does not reach this cluster')).toBeVisible()
  await expect.element(page.getByText('The API server does not accept the connection.')).toBeVisible()
})

test('the tree in Git is linked, and Flux tells how it is', async () => {
  serving()
  await open('/clusters/c-4')
  const git = page.getByRole('region', { name: 'Git and Flux' })
  await expect.element(git.getByText('Flux is healthy and reconciling the tree.')).toBeVisible()
  await expect
    .element(git.getByRole('link', { name: 'fluxcd/clusters/kubeopera-host' }))
    .toHaveAttribute('href', 'https://github.com/acme/gitops-iac/tree/main/fluxcd/clusters/kubeopera-host')
})

test('the page tells which Flux is on the cluster, who installed it and which revision it applied last', async () => {
  const server = serving()
  await open('/clusters/c-4')
  const git = page.getByRole('region', { name: 'Git and Flux' })
  const fact = (name: string) => git.getByText(name, { exact: true }).element().nextElementSibling?.textContent
  await expect.element(git.getByText('v2.9.4, installed by KubeOpera')).toBeVisible()
  expect(fact('Applied by Flux last')).toBe('This commit')
  const [, , , at] = server.clusters
  if (!at?.git_ops) throw new Error('the fixture has a tree')
  const later = 'a'.repeat(40)
  server.update({ ...at, git_ops: { ...at.git_ops, applied_revision: `main@sha1:${later}` }, revision: 10_000 })
  await expect
    .element(git.getByRole('link', { name: 'a'.repeat(12) }))
    .toHaveAttribute('href', `https://github.com/acme/gitops-iac/commit/${later}`)
  server.update({
    ...at,
    flux: { version: null, managed_by: 'flux-operator' },
    flux_healthy: false,
    conditions: [
      {
        type: 'FluxHealthy',
        status: 'False',
        reason: 'NotReady',
        message: 'Deployment source-controller has 0 of 1 replicas available.',
        last_transition_time: new Date().toISOString(),
      },
    ],
    revision: 10_001,
  })
  await expect.element(git.getByText('Version not known, installed by flux-operator')).toBeVisible()
  await expect.element(git.getByText('Deployment source-controller has 0 of 1 replicas available.')).toBeVisible()
})

test('a credential that ends is told on card, list and page before and after, with the cure beside it', async () => {
  const server = new Server()
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000 + 60_000).toISOString()
  const ending = (state: 'expires_soon' | 'expired', days: number, message: string) =>
    cluster({
      id: 'c-9',
      name: 'north',
      is_host: false,
      credential: { kind: 'client_certificate', state, expires_at: inDays(days) },
      conditions: [
        {
          type: 'CredentialValid',
          status: state === 'expired' ? 'False' : 'True',
          reason: 'x',
          message,
          last_transition_time: new Date().toISOString(),
        },
      ],
    })
  server.clusters = [ending('expires_soon', 3, 'The client certificate in the stored kubeconfig expires at noon.')]
  const { router } = await open('/clusters')
  await expect.element(page.getByRole('article', { name: 'north' })).toHaveTextContent(/Credential expires soon/)
  await router.navigate({ to: '/clusters', search: { view: 'list' } })
  await expect.element(page.getByRole('row', { name: /north/ })).toHaveTextContent(/Credential expires soon/)
  await router.navigate({ to: '/clusters/$id', params: { id: 'c-9' } })
  const notice = page.getByRole('status').filter({ hasText: 'The stored credential' })
  await expect.element(notice).toHaveTextContent(/expires soonThe client certificate.*expires at noon\./)
  await expect
    .element(page.getByRole('region', { name: 'Connection' }))
    .toHaveTextContent(/Client certificate, expires in 3.d/)
  server.update({ ...ending('expired', -1, 'It expired at noon.'), revision: 10_000 })
  await expect.element(notice).toHaveTextContent(/has expiredIt expired at noon\./)
  await notice.getByRole('button', { name: 'Replace kubeconfig…' }).click()
  await expect.element(page.getByRole('dialog', { name: /north/ })).toBeVisible()
})

test('a credential that is good, or that does not tell its end, asks for nothing', async () => {
  const server = new Server()
  server.clusters = [
    cluster({ id: 'c-9', is_host: false, credential: { kind: 'token', state: null, expires_at: null } }),
  ]
  await open('/clusters/c-9')
  await expect
    .element(page.getByRole('region', { name: 'Connection' }))
    .toHaveTextContent(/Token, which does not tell when it expires/)
  await expect.element(page.getByText(/The stored credential/)).not.toBeInTheDocument()
})

test('somebody who may only look is offered nothing to do', async () => {
  const server = serving()
  server.on('GET /api/v1/session', { status: 200, body: { ...session, user: { ...session.user, role: 'viewer' } } })
  await open('/clusters/c-2')
  await expect.element(phases).toBeVisible()
  await expect.element(page.getByRole('button', { name: 'Try again now' })).not.toBeInTheDocument()
  await expect.element(page.getByRole('button', { name: /^Actions for/ })).not.toBeInTheDocument()
})

test('what came from outside is text on the page, too', async () => {
  const server = new Server()
  const evil = '<img src=x onerror="document.title=`owned`">'
  server.clusters = [
    cluster({
      id: 'c-1',
      name: evil,
      message: evil,
      git_ops: { url: 'javascript:alert(1)', branch: evil, path: evil, commit: null, applied_revision: evil },
      flux: { version: evil, managed_by: evil },
      conditions: [
        { type: evil, status: 'False', reason: evil, message: evil, last_transition_time: new Date().toISOString() },
      ],
    }),
  ]
  await open('/clusters/c-1')
  await expect.element(page.getByRole('heading', { level: 1 })).toHaveTextContent(evil)
  expect(document.querySelector('#main img, #main script, a[href^="javascript"]')).toBeNull()
})
