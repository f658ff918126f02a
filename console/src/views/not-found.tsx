/** An address that leads nowhere says so. */

import { Empty } from '../parts/notice.tsx';

export function NotFound() {
  return (
    <>
      <div class="intro">
        <h1 tabIndex={-1}>Page not found</h1>
      </div>
      <div class="card">
        <Empty title="There is no page at this address">
          <p>
            Check the link, or <a href="#/">look up a domain</a>.
          </p>
        </Empty>
      </div>
    </>
  );
}
