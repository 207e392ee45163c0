import { expect, test } from 'vitest'
import { newId } from '@/api/new-id'
import { connectCommands } from '@/wizard/connect/manifest'
import { applied, hostClusterOf } from '@/wizard/host-cluster'

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

test('an id is a UUID of version 4, and another one each time', () => {
  const ids = Array.from({ length: 50 }, newId)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(ids).size).toBe(50)
})
