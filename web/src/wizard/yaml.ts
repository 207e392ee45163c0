/** A string of YAML inside a here-document, where a shell would replace what a dollar sign begins. */
export const yaml = (text: string) => JSON.stringify(text).replaceAll('$', '\\$')

/** One word of a shell, whatever is in it. */
export const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** `given` if it passes its rule, or else an example: what goes into a script is known to be harmless. */
export const orExample = (given: string, rule: (text: string) => true | string, example: string) =>
  rule(given) === true ? given : example

/** A line of a mapping, if there is something to say. */
export const optionalLine = (key: string, given: string, rule: (text: string) => true | string) =>
  rule(given) === true ? `\n  ${key}: ${yaml(given)}` : ''
