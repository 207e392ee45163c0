import { api, dataOf } from '@/api/client'
import type { KubeconfigCheck } from '@/api/model'

/** A kubeconfig as it was supplied. It stays in memory and is gone with the page. */
export interface Supplied {
  /** What to call it: a file's name, or that it was pasted. */
  label: string
  /** In bytes. */
  size: number
  kubeconfig: string
  /** A file goes byte by byte: it may be in UTF-16. */
  encoding: 'text' | 'base64'
}

/** The server takes no larger kubeconfig. */
const LARGEST = 1023 * 1024

/** Pasted text, or why it cannot be a kubeconfig. */
export function pasted(text: string): Supplied | string {
  const size = new Blob([text]).size
  return tooLarge(size, text.trim()) ?? { label: 'Pasted kubeconfig', size, kubeconfig: text, encoding: 'text' }
}

/** A file, or why it cannot be a kubeconfig. */
export async function uploaded(file: File): Promise<Supplied | string> {
  const refusal = tooLarge(file.size, file.size)
  if (refusal) return refusal
  try {
    const address = await new Promise<string>((resolve, reject) => {
      const reader = new FileReader()
      reader.onload = () => resolve(String(reader.result))
      reader.onerror = () => reject(reader.error)
      reader.readAsDataURL(file)
    })
    const kubeconfig = address.slice(address.indexOf(',') + 1)
    return { label: file.name, size: file.size, kubeconfig, encoding: 'base64' }
  } catch {
    return `The browser could not read ${file.name}.`
  }
}

function tooLarge(size: number, content: string | number): string | undefined {
  if (!content) return 'Paste a kubeconfig, or choose a file.'
  return size > LARGEST ? 'This is larger than 1023 KiB, so it is not the kubeconfig of one cluster.' : undefined
}

/** What each context of it is good for, or `context` only. */
export function checkKubeconfig({ kubeconfig, encoding }: Supplied, context?: string): Promise<KubeconfigCheck> {
  return dataOf(api.POST('/api/v1/clusters/kubeconfig-check', { body: { kubeconfig, encoding, context } }))
}
