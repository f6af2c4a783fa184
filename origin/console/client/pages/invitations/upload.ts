/** Uploads a file of codes and reports its progress, which `fetch` cannot do. */
import type { Problem } from '../../../../../shared/problem.ts'
import { ApiError } from '../../api.ts'

export interface Imported {
  readonly imported: number
  readonly invitations: number
}

const typeOf = (name: string) => (/\.(ndjson|jsonl)$/i.test(name) ? 'application/x-ndjson' : 'text/csv')

/** `onProgress` gets the share that has been sent. Throws ApiError, which names the wrong line. */
export function upload(path: string, file: File, onProgress: (share: number) => void): Promise<Imported> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', path)
    request.responseType = 'json'
    request.setRequestHeader('content-type', typeOf(file.name))
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    request.onload = () => {
      const { status, response } = request
      if (status === 200) resolve(response as Imported)
      else reject(new ApiError({ ...(response as Partial<Problem> | null), status }))
    }
    request.onerror = () =>
      reject(new ApiError({ status: 0, detail: 'The origin ended the upload. None of the codes is stored.' }))
    request.send(file)
  })
}
