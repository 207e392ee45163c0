/**
 * The server's rules for what people type, told before it is sent. The server has the last word; these are libs/vocabulary's.
 * Each answers the sentence to show, or true.
 */

const label = (longest: number) => (text: string) =>
  text.length <= longest && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text)

const subdomain = (text: string) => text.length <= 253 && text.split('.').every(label(63))

type Rule = (text: string) => true | string

const rule =
  (accepts: (text: string) => boolean, sentence: string): Rule =>
  (text) =>
    accepts(text) || sentence

/** Leaves an empty field alone. */
export const orEmpty =
  (rule: Rule): Rule =>
  (text) =>
    text === '' || rule(text)

export const clusterName = rule(
  label(40),
  'Use 1 to 40 lower-case letters, digits and hyphens, and start and end with a letter or digit.',
)

export const provider = rule(label(32), 'Choose where the cluster runs.')

export const region = rule(label(63), 'Use 1 to 63 lower-case letters, digits and hyphens, such as eu-north-1.')

export const domain = rule(
  (text) => text.includes('.') && subdomain(text) && /\.[a-z][^.]*$/.test(text),
  'Enter a host name with at least one dot, in lower case and without https://, such as prod.acme.com.',
)

export const email = rule((text) => {
  const [local = '', host = '', more] = text.split('@')
  return (
    more === undefined &&
    text.length <= 254 &&
    /^[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}$/.test(local) &&
    host.includes('.') &&
    subdomain(host.toLowerCase())
  )
}, 'Enter an address such as admin@acme.com.')

export const username = rule(
  (text) => /^[a-z][a-z0-9._-]{1,31}$/.test(text),
  'Use 2 to 32 lower-case letters, digits, dots, hyphens and underscores, and start with a letter.',
)

export const title = rule(
  (text) => /^[\p{Alphabetic}\p{N} \-_.,:/()@#+&']{1,64}$/u.test(text) && text.trim() === text,
  'Use 1 to 64 letters, digits, spaces and simple punctuation, without a space at either end.',
)

export const gitPath = rule(
  (text) => /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/.test(text) && !text.split('/').some((part) => /^\.+$/.test(part)),
  'Enter a folder such as fluxcd/clusters/my-cluster, without a slash at either end.',
)

export const password = rule((text) => {
  const { length } = [...text]
  return length >= 12 && length <= 128
}, 'Use 12 to 128 characters.')

const labelPart = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)$/

export const labelKey = rule((text) => {
  const [name = '', prefix, more] = text.split('/').reverse()
  return more === undefined && labelPart.test(name) && (prefix === undefined || subdomain(prefix))
}, 'Use letters, digits, dots, hyphens and underscores, such as env or acme.com/team.')

export const labelValue = rule(
  (text) => text === '' || labelPart.test(text),
  'Use up to 63 letters, digits, dots, hyphens and underscores.',
)
