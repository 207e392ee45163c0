const names: Record<string, string> = {
  aws: 'AWS',
  gcp: 'GCP',
  azure: 'Azure',
  'on-premises': 'On-premises',
  'on-prem': 'On-premises',
  onprem: 'On-premises',
  other: 'Other',
}

/** A provider as people write it. A cluster without a cloud integration has the provider "unknown". */
export function providerName(provider: string): string {
  return names[provider] ?? provider
}

/** "v1.34.4" whichever way the version was reported. */
export function versionName(version: string): string {
  return version.startsWith('v') ? version : `v${version}`
}
