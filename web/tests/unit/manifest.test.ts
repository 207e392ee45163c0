import { expect, test } from 'vitest'
import { newId } from '@/api/new-id'
import { connectCommands } from '@/wizard/connect/manifest'
import { emptyOrder } from '@/wizard/create/create'
import { createdResource } from '@/wizard/create/manifest'
import { applied, hostClusterOf } from '@/wizard/host-cluster'
import { registerCommand } from '@/wizard/register-manifest'

test('the Secret has the one name by which the controller takes it for the cluster’s own', () => {
  const details = {
    name: 'north',
    provider: 'aws',
    region: 'eu-north-1',
    git_path: '',
    domain: '',
    admin_email: '',
    admin_username: '',
  }
  const place = { url: 'https://git.acme.com/iac.git', branch: null, credentials_secret: 'git' }
  const id = '0d5f1f6e-6f0b-4c55-9d2f-0d7c6a1b2c3d'
  const commands = connectCommands({ id, details, context: null, place })

  const own = 'hostcluster-0d5f1f6e-input-kubeconfig'
  expect(commands).toContain(`kubectl create secret generic ${own} `)
  expect(commands).toContain(`connectKubeconfigSecretRef: "${own}"\n`)
})

test('a resource is the same to every reader of YAML, whatever was typed, and nothing in it is for the shell', () => {
  const described = { git_path: '', domain: '', admin_email: '', admin_username: '' }
  const place = { url: 'https://git.acme.com/`id`$(id).git', branch: 'no', credentials_secret: 'git' }
  const resource = hostClusterOf({
    id: newId(),
    name: 'true',
    mode: 'connect_existing',
    provider: 'on',
    region: '1e3',
    place,
    described,
  })
  expect(resource).toContain('kubeopera.io/cluster-name: "true"')
  expect(resource).toContain('provider: "on"')
  expect(resource).toContain('region: "1e3"')
  expect(resource).toContain('gitOpsBranch: "no"')
  expect(resource).toContain('gitOpsRepoURL: "https://git.acme.com/`id`$(id).git"')
  expect(resource).toContain('mode: connect_existing')
  expect(applied(resource)).toMatch(/^kubectl apply -f - <<'EOF'\n/)
})

const id = '7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11'
const place = {
  url: 'https://github.com/acme/gitops-iac.git',
  branch: null,
  credentials_secret: 'gitops-iac-credentials',
}
const described = { domain: 'prod.acme.com', admin_email: 'admin@acme.com', admin_username: 'admin' }
const nothing = { name: '', provider: '', region: '', git_path: '', domain: '', admin_email: '', admin_username: '' }
const filled = {
  ...nothing,
  ...described,
  name: 'prod',
  provider: 'on-prem',
  region: 'oslo',
  git_path: 'clusters/prod',
}
const order = {
  ...emptyOrder,
  ...described,
  credential_id: '0d5f1f6e-6f0b-4c55-9d2f-0d7c6a1b2c3d',
  name: 'prod',
  node_count: '3',
}

const resourceIn = (commands: string) => commands.slice(commands.indexOf('apiVersion'), commands.lastIndexOf('\nEOF'))
const connecting = (details: typeof nothing) =>
  resourceIn(connectCommands({ id, details, context: 'admin@prod', place: { ...place, branch: 'trunk' } }))
const creating = (change: Partial<typeof order>) => createdResource({ ...order, ...change }, place, id)

// The API server is asked whether it would take each of these files, and so is the controller's code.
test.each(
  Object.entries({
    register: resourceIn(registerCommand(place, id)),
    'connect-nothing-typed': connecting(nothing),
    'connect-nothing-acceptable': connecting({
      ...filled,
      name: '-',
      provider: '`',
      region: '"',
      domain: '.',
      admin_email: '@',
    }),
    connect: connecting(filled),
    'create-nothing-chosen': createdResource({ ...emptyOrder, credential_id: order.credential_id }, place, id),
    'create-vanilla': creating({
      provider: 'aws',
      topology: 'vanilla_kubeadm',
      region: 'eu-west-1',
      control_plane_count: '3',
    }),
    'create-eks': creating({
      provider: 'aws',
      topology: 'managed_eks',
      region: 'eu-west-1',
      instance_type: 'm7i.large',
    }),
    'create-gke': creating({
      provider: 'gcp',
      topology: 'managed_gke',
      region: 'europe-north1',
      instance_type: 'e2-standard-4',
    }),
  }),
)('the resource that a form shows is the one that was tried: %s', async (name, resource) => {
  await expect(`${resource}\n`).toMatchFileSnapshot(`manifests/${name}.yaml`)
})

test('an id is a UUID of version 4, and another one each time', () => {
  const ids = Array.from({ length: 50 }, newId)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(ids).size).toBe(50)
})
