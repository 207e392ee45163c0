import { expect, test } from 'vitest'
import { connectCommands } from '@/wizard/connect/manifest'

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
  const commands = connectCommands({ details, context: null, gitUrl: 'https://git.acme.com/iac.git' })

  const own = `hostcluster-\${ID%%-*}-input-kubeconfig`
  expect(commands).toContain(`kubectl create secret generic "${own}"`)
  expect(commands).toContain(`connectKubeconfigSecretRef: ${own}\n`)
})
