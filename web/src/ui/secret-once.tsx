import { Button } from './button'
import { CopyButton } from './copy-button'
import { Modal } from './modal'
import { Notice } from './notice'

interface SecretOnceProps {
  title: string
  /** Names the secret: "token". */
  what: string
  secret: string
  children?: React.ReactNode
  onClose: () => void
}

/** Something secret that is shown this once. */
export function SecretOnce({ title, what, secret, children, onClose }: SecretOnceProps) {
  return (
    <Modal
      open
      alert
      title={title}
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <Notice tone="warn">KubeOpera shows this once and cannot show it again.</Notice>
      <div className="mt-4 flex items-center gap-2 rounded-lg border border-line bg-sunken py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 select-all font-mono text-ui [overflow-wrap:anywhere]">{secret}</code>
        <CopyButton text={secret} label={`Copy the ${what}`} />
      </div>
      {children}
    </Modal>
  )
}
