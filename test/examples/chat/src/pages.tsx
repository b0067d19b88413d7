import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { api } from './api.ts'
import { Problem, Title, when } from './parts.tsx'

export function Pages() {
  const client = useQueryClient()
  const pages = useQuery({ queryKey: ['pages'], queryFn: api.pages })
  const create = useMutation({
    mutationFn: api.createPage,
    onSuccess: () => client.invalidateQueries({ queryKey: ['pages'] }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('name')).trim()
    if (name === '') return
    event.currentTarget.reset()
    create.mutate(name)
  }
  return (
    <>
      <Title>Pages</Title>
      <form onSubmit={submit}>
        <input name="name" aria-label="Name" placeholder="Name of a new page" autoComplete="off" />
        <button type="submit" disabled={create.isPending}>
          Create
        </button>
      </form>
      <Problem error={create.error} reason={create.failureReason} />
      <Problem error={pages.error} reason={pages.failureReason} />
      <ul className="rows">
        {pages.data?.data.map(({ id, name, created_at }) => (
          <li key={id}>
            <span>{name}</span>
            <small>{when(created_at)}</small>
          </li>
        ))}
      </ul>
    </>
  )
}
