import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useSyncExternalStore } from 'react'
import { api, ENDED } from './api.ts'
import { Problem, Title } from './parts.tsx'

const KEPT = 'batches'

/** The service has no list of batches: the page keeps the ids of its own, for all tabs. */
function useIds(): readonly string[] {
  const text = useSyncExternalStore(
    (changed) => {
      addEventListener('storage', changed)
      return () => removeEventListener('storage', changed)
    },
    () => localStorage.getItem(KEPT) ?? '[]',
  )
  return JSON.parse(text) as readonly string[]
}

export function Batches() {
  const ids = useIds()
  const files = useQuery({ queryKey: ['files'], queryFn: api.files })
  const create = useMutation({
    mutationFn: ({ prompt, chosen }: { readonly prompt: string; readonly chosen: readonly string[] }) =>
      api.createBatch(prompt, chosen),
    onSuccess: ({ id }) => {
      localStorage.setItem(KEPT, JSON.stringify([id, ...ids].slice(0, 20)))
      // Other tabs get this event by themselves.
      dispatchEvent(new StorageEvent('storage'))
    },
  })
  const nameOf = (id: string) => files.data?.data.find((file) => file.id === id)?.name ?? id
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const chosen = form.getAll('file').map(String)
    if (chosen.length > 0) create.mutate({ prompt: String(form.get('prompt')), chosen })
  }
  return (
    <>
      <Title>Batches</Title>
      <form className="batch-form" onSubmit={submit}>
        <input name="prompt" aria-label="Prompt" defaultValue="What is the title, and the total?" />
        <fieldset>
          <legend>Files</legend>
          {files.data?.data.slice(0, 8).map(({ id, name }) => (
            <label key={id}>
              <input type="checkbox" name="file" value={id} /> {name}
            </label>
          ))}
        </fieldset>
        <button type="submit" disabled={create.isPending}>
          Start
        </button>
      </form>
      <Problem error={create.error} reason={create.failureReason} />
      <Problem error={files.error} reason={files.failureReason} />
      {ids.map((id) => (
        <BatchCard key={id} id={id} nameOf={nameOf} />
      ))}
    </>
  )
}

function BatchCard({ id, nameOf }: { readonly id: string; readonly nameOf: (file: string) => string }) {
  const batch = useQuery({
    queryKey: ['batch', id],
    queryFn: () => api.batch(id),
    refetchInterval: ({ state }) =>
      ENDED.includes(state.data?.status ?? '') || state.error !== null ? false : 2_000,
  })
  const { status = 'loading', request_counts: counts } = batch.data ?? {}
  const results = useQuery({
    queryKey: ['results', id],
    queryFn: () => api.results(id),
    enabled: typeof batch.data?.results_url === 'string',
  })
  const { total = 0, processing = total } = counts ?? {}
  const finished = total - processing
  return (
    <article className="card" aria-label={`Batch ${id}`}>
      <header>
        <span className={`status ${status}`}>{status.replaceAll('_', ' ')}</span>
        <small>{`${finished} of ${total} finished`}</small>
      </header>
      <progress max={total || 1} value={finished} aria-label="Progress" />
      <Problem error={batch.error ?? results.error} reason={batch.failureReason ?? results.failureReason} />
      {results.data !== undefined && (
        <table>
          <thead>
            <tr>
              <th>File</th>
              <th>Title</th>
              <th>Total</th>
            </tr>
          </thead>
          <tbody>
            {results.data.map(({ custom_id, output, error }) => (
              <tr key={custom_id}>
                <td>{nameOf(custom_id)}</td>
                <td>{output === null ? error?.detail : String(output.title)}</td>
                <td>{output === null ? '' : String(output.total)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </article>
  )
}
