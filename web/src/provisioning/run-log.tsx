import { Pause, Play } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { exact } from '@/format/time'
import { Button } from '@/ui/button'
import { CopyButton } from '@/ui/copy-button'
import { Loaded } from '@/ui/loaded'
import { Nothing } from '@/ui/rows'
import { Section } from '@/ui/section'
import { type Log, useRunLog } from './provisioning'

/** This near to the end counts as being there. */
const NEAR_PX = 24

/** What the runs of a cluster say, as they say it. */
export function RunLog({ id }: { id: string }) {
  const [isPaused, setPaused] = useState(false)
  const query = useRunLog(id, isPaused)
  const { data } = query
  return (
    <Section
      title="Provisioning log"
      about={data && <About log={data} isPaused={isPaused} />}
      action={
        data &&
        data.lines.length > 0 && (
          <div className="flex items-center gap-1.5">
            {data.is_live && (
              <Button aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
                {isPaused ? <Play aria-hidden /> : <Pause aria-hidden />}
                {isPaused ? 'Go on' : 'Pause'}
              </Button>
            )}
            <CopyButton text={textOf(data)} label="Copy the log" />
          </div>
        )
      }
    >
      <Loaded query={query} what="the log">
        {(log) => (log.lines.length > 0 ? <Lines log={log} /> : <Nothing>The run has said nothing yet.</Nothing>)}
      </Loaded>
    </Section>
  )
}

function About({ log, isPaused }: { log: Log; isPaused: boolean }) {
  return (
    <>
      {isPaused ? 'Paused.' : log.is_live ? 'As it is said.' : 'No run is at work.'}
      {log.isCut && ' Its beginning is no longer kept.'}
    </>
  )
}

/** The lines, at the last one unless somebody has scrolled away from it. Quiet for those who listen, unless they want it. */
function Lines({ log: { lines } }: { log: Log }) {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const spoken = useId()
  const [isSpoken, setSpoken] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines are what it follows
  useEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight
  }, [lines])
  return (
    <>
      <div
        ref={box}
        role="log"
        aria-label="Lines of the provisioning log"
        aria-live={isSpoken ? 'polite' : 'off'}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX
        }}
        className="max-h-96 overflow-y-auto rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-xs leading-5"
      >
        {lines.map(({ at, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no names, and only the last are new
          <p key={index} className="flex gap-3">
            <time dateTime={at} title={exact(at)} className="shrink-0 text-fg-3 tabular-nums">
              {clock(at)}
            </time>
            <span dir="ltr" className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
              {text}
            </span>
          </p>
        ))}
      </div>
      <label htmlFor={spoken} className="mt-3 inline-flex items-center gap-2 text-fg-2 text-ui">
        <input id={spoken} type="checkbox" checked={isSpoken} onChange={() => setSpoken(!isSpoken)} />
        Have a screen reader read new lines
      </label>
    </>
  )
}

const clock = (at: string) => new Date(at).toLocaleTimeString(undefined, { hour12: false })

const textOf = ({ lines }: Log) => lines.map(({ at, text }) => `${at} ${text}\n`).join('')
