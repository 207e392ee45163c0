import clsx from 'clsx'
import { FileKey2, Upload } from 'lucide-react'
import { type DragEvent, useRef, useState } from 'react'
import { TextArea } from '@/form/field'
import { bytes } from '@/format/bytes'
import { Button } from '@/ui/button'
import { Sentences } from '@/ui/sentences'
import { pasted, type Supplied, uploaded } from './kubeconfig'
import type { KubeconfigOnItsWay } from './use-kubeconfig'

/** Takes a kubeconfig: pasted, chosen or dropped. */
export function KubeconfigInput({
  on: { supplied, check, isLooking: busy, refused, refuse, supply, clear, area },
}: {
  on: KubeconfigOnItsWay
}) {
  const [dragged, setDragged] = useState(false)
  const file = useRef<HTMLInputElement>(null)
  const error = refused.kubeconfig

  const take = (got: Supplied | string) => (typeof got === 'string' ? refuse({ kubeconfig: got }) : supply(got))
  const takeFile = async (chosen: File | null | undefined) => {
    if (chosen) take(await uploaded(chosen))
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setDragged(false)
    const { files } = event.dataTransfer
    if (files.length > 0) void takeFile(files[0])
    else take(pasted(event.dataTransfer.getData('text')))
  }

  if (supplied && (check || supplied.encoding === 'base64'))
    return (
      <div>
        <div className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-sunken px-3.5 py-2.5">
          <FileKey2 aria-hidden className="size-5 shrink-0 text-fg-3" />
          <p className="min-w-0 flex-1 truncate">
            <span className="font-medium">{supplied.label}</span>{' '}
            <span className="text-fg-3 text-ui">{bytes(supplied.size)}</span>
          </p>
          <Button onClick={clear} busy={busy}>
            {busy ? 'Checking' : 'Use another'}
          </Button>
        </div>
        {error && <Refusal>{error}</Refusal>}
      </div>
    )
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way beside the button and the box
    <div
      onDragOver={(event) => {
        event.preventDefault()
        setDragged(true)
      }}
      onDragLeave={() => setDragged(false)}
      onDrop={drop}
      className={clsx('-m-2 rounded-xl p-2', dragged && 'bg-accent-soft ring-2 ring-accent')}
    >
      <TextArea
        label="Kubeconfig"
        ref={area}
        readOnly={busy}
        error={error}
        placeholder="apiVersion: v1&#10;kind: Config&#10;…"
        hint="Paste it here, or choose or drop a file. It needs cluster-admin access. KubeOpera stores it as a Kubernetes Secret exactly as supplied and never shows it again; this browser keeps nothing of it."
        onChange={(event) => {
          if ((event.nativeEvent as InputEvent).inputType === 'insertFromPaste') take(pasted(event.target.value))
        }}
      />
      <div className="mt-3 flex flex-wrap gap-2">
        <Button look="primary" busy={busy} onClick={() => take(pasted(area.current?.value ?? ''))}>
          Check Kubeconfig
        </Button>
        <Button onClick={() => file.current?.click()}>
          <Upload aria-hidden />
          Choose a file
        </Button>
        <input
          ref={file}
          type="file"
          aria-label="Kubeconfig file"
          tabIndex={-1}
          className="sr-only"
          onChange={(event) => {
            void takeFile(event.target.files?.[0])
            event.target.value = ''
          }}
        />
      </div>
    </div>
  )
}

function Refusal({ children }: { children: string }) {
  return (
    <div role="alert" className="mt-2 font-medium text-bad-fg text-ui [overflow-wrap:anywhere]">
      <Sentences>{children}</Sentences>
    </div>
  )
}
