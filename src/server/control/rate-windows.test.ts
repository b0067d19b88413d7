import { expect, test } from 'vitest'
import { type AnyOperation, operation } from '../../core/operation.ts'
import { operationOf } from './rate-windows.ts'

function named(name: string, method: AnyOperation['method'], path: string): AnyOperation {
  const rest = { summary: '', section: '', errorFormat: 'standard', contract: true, success: 200 } as const
  return operation({ name, method, path, ...rest, handle: () => ({}) })
}

const operations = [
  named('books.list', 'GET', '/books'),
  named('books.show', 'GET', '/books/{book_id}'),
  named('shelves.books.list', 'GET', '/shelves/{shelf_id}/books'),
  named('books.create', 'POST', '/books'),
  named('odd.show', 'GET', "/o.d(d+$'/{id}"),
]

test.for<[key: string, name: string | undefined]>([
  ['ts-a books.list', 'books.list'],
  ['a teamspace with blanks books.show', 'books.show'],
  ['ts-a shelves.books.list', 'shelves.books.list'],
  ['ts-a GET /v1/books', 'books.list'],
  ['ts-a POST /v1/books', 'books.create'],
  ['ts-a GET /v1/books/b%201', 'books.show'],
  ['ts-a GET /@w3/v1/shelves/s/books', 'shelves.books.list'],
  ["ts-a GET /v1/o.d(d+$'/1", 'odd.show'],
  ["ts-a GET /v1/oxd(d+$'/1", undefined],
  ['ts-a DELETE /v1/books', undefined],
  ['ts-a GET /v1/papers', undefined],
  ['ts-a nothing.known', undefined],
  ['books.list', undefined],
])('the window %s belongs to %s', ([key, name]) => {
  expect(operationOf(key, operations)?.name).toBe(name)
})
