import { DiffLines, fieldDifferences } from './differences.tsx'
import { asJson } from './format.ts'
import { Button, Note } from './ui.tsx'

interface ConflictProps {
  /** The record as it was when the user began to edit it. */
  readonly base: string
  readonly mine: string
  /** The record as it is stored now. */
  readonly theirs: string
  readonly onKeep: () => void
  readonly onTake: () => void
}

/** Shows the changes of another client in a record that is edited here, and asks which version to keep. */
export function RecordConflict({ base, mine, theirs, onKeep, onTake }: ConflictProps) {
  const own = parsed(mine)
  const isSame = own !== undefined && fieldDifferences(parsed(theirs) ?? {}, own).length === 0
  return (
    <section role="alert">
      <Note tone="warn">
        The record was changed while you edited it. Your version was not saved: choose the version to keep.
      </Note>
      <div class="diff conflict">
        <h3>Changed by others</h3>
        <DiffLines lines={fieldDifferences(parsed(base) ?? {}, parsed(theirs) ?? {})} />
        <h3>Changed by you</h3>
        {own === undefined ? <p class="pad hint">Your text is not valid JSON yet.</p> : null}
        <DiffLines lines={fieldDifferences(parsed(base) ?? {}, own ?? parsed(base) ?? {})} />
      </div>
      <p class="row-actions">
        <Button onClick={onKeep}>{isSame ? 'Continue' : 'Keep mine'}</Button>
        <Button onClick={onTake}>Take theirs</Button>
      </p>
    </section>
  )
}

function parsed(text: string): object | undefined {
  const value = asJson(text)
  return typeof value === 'object' && value !== null ? value : undefined
}
