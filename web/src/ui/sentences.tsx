import { Command } from './command'

/** A part of a message: words, a name or setting in them, or commands to run one after the other. */
type Part = { kind: 'words'; text: string } | { kind: 'code'; text: string } | { kind: 'commands'; lines: string[] }

/** Takes a message apart at its backticks. Commands that only a comma separates belong together. */
export function partsOf(message: string): Part[] {
  const parts: Part[] = []
  message.split('`').forEach((text, index) => {
    const last = parts.at(-1)
    if (index % 2 === 1) {
      if (!/^(kubectl|openssl) /.test(text)) parts.push({ kind: 'code', text })
      else if (last?.kind === 'commands') last.lines.push(text)
      else parts.push({ kind: 'commands', lines: [text] })
    } else if (last?.kind === 'commands' ? !/^\s*(,|\.|and|then)*\s*$/.test(text) : text) {
      parts.push({ kind: 'words', text: last?.kind === 'commands' ? text.replace(/^[.,]\s*/, '') : text })
    }
  })
  return parts
}

/** What the server says, with the commands in it ready to be copied. */
export function Sentences({ children }: { children: string }) {
  return partsOf(children).map((part, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
    if (part.kind === 'words') return <span key={index}>{part.text}</span>
    if (part.kind === 'code')
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <code key={index} className="rounded bg-sunken px-1 py-px font-mono text-[0.9em] text-fg-2">
          {part.text}
        </code>
      )
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above
      <Command key={index} copyLabel="Copy the commands that mend it" className="my-2">
        {part.lines.join('\n')}
      </Command>
    )
  })
}
