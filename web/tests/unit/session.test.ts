import { expect, test } from 'vitest'
import { insideOnly, providerHref, refusalOf } from '@/session/session'

test('logging in leads to a page of this dashboard', () => {
  expect(insideOnly('/clusters/new?way=connect')).toBe('/clusters/new?way=connect')
  expect(insideOnly(undefined)).toBe('/')
})

test('logging in never leads to another site or back to the login page', () => {
  for (const next of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '/login?next=/',
  ])
    expect(insideOnly(next)).toBe('/')
})

test('whatever word brings somebody back to the login page, there is a sentence for it', () => {
  expect(refusalOf(undefined)).toBeNull()
  expect(refusalOf('oidc_no_access')).toMatch(/group/)
  for (const unknown of ['constructor', '__proto__', '<script>']) expect(refusalOf(unknown)).toMatch(/^You could not/)
})

test('the identity provider leads back to pages of this dashboard only', () => {
  expect(providerHref('/clusters?page=2')).toBe('/api/v1/session/oidc?return_to=%2Fclusters%3Fpage%3D2')
  expect(providerHref('//evil.example')).toBe('/api/v1/session/oidc?return_to=%2F')
})
