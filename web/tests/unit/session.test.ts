import { expect, test } from 'vitest'
import { insideOnly } from '@/session/session'

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
