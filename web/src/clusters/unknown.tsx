/** Not known is never shown as nought. */
export function Unknown() {
  return (
    <>
      <span aria-hidden>–</span>
      <span className="sr-only">not known yet</span>
    </>
  )
}
