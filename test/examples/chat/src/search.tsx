import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from './api.ts'
import { Problem, Title } from './parts.tsx'

export function Search() {
  const [text, setText] = useState('')
  const wanted = text.trim()
  const found = useQuery({
    queryKey: ['search', wanted],
    queryFn: () => api.search(wanted),
    enabled: wanted !== '',
    placeholderData: keepPreviousData,
  })
  const results = wanted === '' ? [] : (found.data?.data ?? [])
  return (
    <>
      <Title>Search</Title>
      <input
        type="search"
        aria-label="Search"
        placeholder="Name of a page"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Problem error={found.error} reason={found.failureReason} />
      {found.isSuccess && wanted !== '' && results.length === 0 && (
        <p className="empty">No page has this in its name.</p>
      )}
      <ul className="rows">
        {results.map(({ id, name }) => (
          <li key={id}>
            <span>{name}</span>
            <small>page</small>
          </li>
        ))}
      </ul>
    </>
  )
}
