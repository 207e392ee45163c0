import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Cluster, ContextVerdict } from '@/api/model'
import { Problem } from '@/api/problem'
import { ContextChoice } from '@/kubeconfig/context-choice'
import type { Supplied } from '@/kubeconfig/kubeconfig'
import { KubeconfigInput } from '@/kubeconfig/kubeconfig-input'
import { useKubeconfig } from '@/kubeconfig/use-kubeconfig'
import { RequestId } from '@/shell/page-states'
import { Button } from '@/ui/button'
import { Modal } from '@/ui/modal'
import { Notice } from '@/ui/notice'
import { Sentences } from '@/ui/sentences'
import { showReceipt } from '@/ui/toasts'
import { remember } from './clusters'
import { replaceKubeconfig } from './edit'

/** Here a context is the right one if it leads to this very cluster, which the doctor refuses to connect once more. */
function judgeFor({ id, name }: Cluster) {
  return (verdict: ContextVerdict): ContextVerdict => {
    const leadsHere = verdict.cluster?.known_as?.id === id
    if (leadsHere && verdict.refusal?.code === 'cluster_already_known')
      return {
        ...verdict,
        verdict: 'usable',
        refusal: null,
        cluster: verdict.cluster && { ...verdict.cluster, known_as: null },
      }
    if (leadsHere || verdict.verdict !== 'usable') return verdict
    const message = `This leads to another cluster than ${name}.`
    return { ...verdict, verdict: 'refused', refusal: { code: 'another_cluster', field: null, message, commands: [] } }
  }
}

/** Gives a connected cluster another kubeconfig, such as before the present one ends. */
export default function ReplaceKubeconfigDialog({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const queryClient = useQueryClient()
  const kubeconfig = useKubeconfig({ judge: judgeFor(cluster) })
  const { supplied, context, check } = kubeconfig
  const replacing = useMutation({
    mutationFn: ({ file, context }: { file: Supplied; context: string }) =>
      replaceKubeconfig(cluster.id, file, context),
    onSuccess: (changed) => {
      remember(queryClient, changed)
      onClose()
      showReceipt({
        tone: 'success',
        title: `${cluster.name} has another kubeconfig`,
        description: 'KubeOpera uses it from now on.',
      })
    },
  })
  const submit = () => {
    if (!supplied || !check) kubeconfig.refuse({ kubeconfig: 'Supply a kubeconfig and have it checked first.' })
    else if (!context) kubeconfig.refuse({ context: 'Choose a context that leads to this cluster.' })
    else replacing.mutate({ file: supplied, context })
  }
  return (
    <Modal
      open
      title={`Replace the kubeconfig of ${cluster.name}`}
      onClose={onClose}
      initialFocus={kubeconfig.area}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={replacing.isPending} onClick={submit}>
            Replace
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-1 gap-5 px-2 pt-2">
        <KubeconfigInput on={kubeconfig} />
        <ContextChoice on={kubeconfig} />
        {replacing.error && (
          <Notice tone="bad" role="alert" title="The kubeconfig is as it was">
            <Sentences>{Problem.of(replacing.error).message}</Sentences>
            <RequestId of={replacing.error} />
          </Notice>
        )}
      </div>
    </Modal>
  )
}
