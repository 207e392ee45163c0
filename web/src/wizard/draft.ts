/**
 * What somebody has typed into a form, kept for as long as the tab is open so that a reload costs nothing. Only the fields
 * that are named are kept, and a secret is never one of them.
 */
export function keepDraft<T extends object>(form: string, values: T, fields: readonly (keyof T & string)[]) {
  const kept = Object.fromEntries(fields.map((field) => [field, values[field]]))
  try {
    sessionStorage.setItem(key(form), JSON.stringify(kept))
  } catch {
    // A browser that stores nothing keeps what was typed until the page closes.
  }
}

/** The fields of the draft that are texts; whatever else is found there is not ours. */
export function readDraft<T extends Record<string, string>>(form: string, empty: T): T {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key(form)) ?? '{}')
    const texts = Object.entries(kept ?? {}).filter(([field, value]) => field in empty && typeof value === 'string')
    return { ...empty, ...Object.fromEntries(texts) }
  } catch {
    return empty
  }
}

export function forgetDraft(form: string) {
  try {
    sessionStorage.removeItem(key(form))
  } catch {
    // Nothing was stored.
  }
}

/** Whoever logs in next starts with empty forms. */
export function forgetDrafts() {
  for (const form of ['connect', 'create']) forgetDraft(form)
}

const key = (form: string) => `draft:${form}`
