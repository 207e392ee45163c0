import clsx from 'clsx'
import type { Catalogue } from '@/api/model'

interface TopologyChoiceProps {
  catalogue: Catalogue
  provider: string
  topology: string
  error: string | undefined
  onChoose: (provider: string, topology: string) => void
}

/** A cloud, and what KubeOpera builds there. */
export function TopologyChoice({ catalogue, provider, topology, error, onChoose }: TopologyChoiceProps) {
  const choices = catalogue.providers.flatMap((cloud) => cloud.topologies.map((built) => ({ cloud, built })))
  return (
    <fieldset className="min-w-0">
      <legend className="sr-only">Provider and topology</legend>
      {error && (
        <p role="alert" className="mb-2 font-medium text-bad-fg text-ui">
          {error}
        </p>
      )}
      <ul className="grid grid-cols-1 gap-2.5">
        {choices.map(({ cloud, built }) => {
          const chosen = cloud.id === provider && built.id === topology
          const id = `topology-${cloud.id}-${built.id}`
          return (
            <li
              key={id}
              className={clsx(
                'relative flex gap-3 rounded-lg border bg-surface p-3.5',
                chosen ? 'border-accent ring-1 ring-accent' : 'border-line-strong hover:bg-hover',
              )}
            >
              <input
                type="radio"
                name="topology"
                id={id}
                checked={chosen}
                aria-describedby={`${id}-builds`}
                onChange={() => onChoose(cloud.id, built.id)}
                className="relative z-10 mt-0.5 size-4 shrink-0 accent-accent"
              />
              <div className="min-w-0">
                <label htmlFor={id} className="font-medium after:absolute after:inset-0">
                  {cloud.title} · {built.title}
                </label>
                <p id={`${id}-builds`} className="mt-0.5 text-fg-3 text-ui">
                  {built.builds}
                </p>
              </div>
            </li>
          )
        })}
      </ul>
    </fieldset>
  )
}
