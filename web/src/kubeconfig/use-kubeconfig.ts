import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { ContextVerdict, KubeconfigCheck } from '@/api/model'
import { Problem } from '@/api/problem'
import { checkKubeconfig, type Supplied } from './kubeconfig'

interface Options {
  /** Judges a verdict anew where what is to be done with the kubeconfig makes a difference. */
  judge?: (verdict: ContextVerdict) => ContextVerdict
  /** A context was chosen, by somebody or because it is the one to use. */
  onChoose?: (verdict: ContextVerdict) => void
}

/** A kubeconfig on its way: supplied, looked at, and one of its contexts chosen. */
export function useKubeconfig({ judge = (verdict) => verdict, onChoose }: Options = {}) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [supplied, setSupplied] = useState<Supplied | null>(null)
  const [check, setCheck] = useState<KubeconfigCheck | null>(null)
  const [context, setContext] = useState<string | null>(null)
  const [refused, setRefused] = useState<{ kubeconfig?: string; context?: string }>({})

  const take = (verdict: ContextVerdict) => {
    setContext(verdict.name)
    setRefused({})
    onChoose?.(verdict)
  }
  const looking = useMutation({
    mutationFn: (file: Supplied) => checkKubeconfig(file),
    onSuccess: (result) => {
      const contexts = result.contexts.map(judge)
      setCheck({ ...result, contexts })
      const usable = contexts.filter(({ verdict }) => verdict === 'usable')
      const preferred = usable.find(({ name }) => name === result.preferred) ?? (usable.length === 1 ? usable[0] : null)
      if (preferred) take(preferred)
    },
    onError: (error) => setRefused({ kubeconfig: Problem.of(error).message }),
  })
  const lookingCloser = useMutation({
    mutationFn: ({ file, name }: { file: Supplied; name: string }) => checkKubeconfig(file, name),
    onSuccess: ({ contexts: [seen] }) => {
      if (!seen) return
      const looked = judge(seen)
      const replaced = (known: ContextVerdict) => (known.name === looked.name ? looked : known)
      setCheck((known) => known && { ...known, contexts: known.contexts.map(replaced) })
      if (looked.verdict === 'usable') take(looked)
    },
    onError: (error) => setRefused({ context: Problem.of(error).message }),
  })

  return {
    area,
    supplied,
    check,
    context,
    chosen: check?.contexts.find(({ name }) => name === context),
    refused,
    refuse: setRefused,
    isLooking: looking.isPending,
    lookingAt: lookingCloser.isPending ? lookingCloser.variables.name : null,
    supply: (file: Supplied) => {
      setSupplied(file)
      setRefused({})
      looking.mutate(file)
    },
    clear: () => {
      setSupplied(null)
      setCheck(null)
      setContext(null)
      setRefused({})
      looking.reset()
      requestAnimationFrame(() => area.current?.focus())
    },
    choose: (name: string) => {
      const verdict = check?.contexts.find((known) => known.name === name)
      if (verdict) take(verdict)
    },
    lookAt: (name: string) => {
      if (supplied) lookingCloser.mutate({ file: supplied, name })
    },
  }
}

export type KubeconfigOnItsWay = ReturnType<typeof useKubeconfig>
