import { type SubmitEvent, useEffect, useState } from 'react'
import { SelectField, TextField } from '@/form/field'
import { Button } from '@/ui/button'
import { type AuditAction, type AuditFilter, type AuditOutcome, actionName, actions, outcomes } from './audit'

interface AuditFiltersProps {
  filter: AuditFilter
  onFilter: (filter: AuditFilter) => void
}

export function AuditFilters({ filter, onFilter }: AuditFiltersProps) {
  const [who, setWho] = useState(filter.who ?? '')
  useEffect(() => setWho(filter.who ?? ''), [filter.who])
  const set = (change: AuditFilter) => onFilter({ ...filter, ...change })
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    set({ who: who.trim() || undefined })
  }
  return (
    <form aria-label="Filters of the audit log" onSubmit={submit} className="grid grid-cols-2 gap-3 md:grid-cols-5">
      <TextField
        label="Who"
        className="max-md:col-span-2"
        placeholder="User name"
        value={who}
        onChange={(event) => setWho(event.target.value)}
        onBlur={() => who.trim() !== (filter.who ?? '') && set({ who: who.trim() || undefined })}
      />
      <SelectField
        label="What"
        value={filter.action ?? ''}
        onChange={(event) => set({ action: (event.target.value as AuditAction) || undefined })}
      >
        <option value="">Anything</option>
        {actions.map((action) => (
          <option key={action} value={action}>
            {actionName(action)}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="What came of it"
        value={filter.outcome ?? ''}
        onChange={(event) => set({ outcome: (event.target.value as AuditOutcome) || undefined })}
      >
        <option value="">Anything</option>
        {Object.entries(outcomes).map(([outcome, name]) => (
          <option key={outcome} value={outcome}>
            {name}
          </option>
        ))}
      </SelectField>
      <TextField
        label="From"
        type="date"
        value={filter.from ?? ''}
        onChange={(event) => set({ from: event.target.value || undefined })}
      />
      <TextField
        label="To"
        type="date"
        value={filter.until ?? ''}
        onChange={(event) => set({ until: event.target.value || undefined })}
      />
      {Object.values(filter).some(Boolean) && (
        <div className="col-span-full">
          <Button onClick={() => onFilter({})}>Clear filters</Button>
        </div>
      )}
    </form>
  )
}
