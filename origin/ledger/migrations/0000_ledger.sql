-- The ledger: every table, index, constraint and trigger. The tables are those of origin/ledger/schema/, which explains their
-- columns; functions are in origin/ledger/functions/. The parts that the schema files cannot express have a comment here.

-- -- Sales and their stock -----------------------------------------------------------------------------------------

create table sales (
  sale_id text primary key,
  name text not null,
  opens_at timestamptz(3) not null,
  ends_at timestamptz(3),
  pre_queue_opens_at timestamptz(3),
  hold_seconds integer not null,
  limit_per_visitor integer not null,
  rate_per_second double precision not null,
  max_inside integer,
  oversell_policy text not null,
  access jsonb not null default '{"sign_in":"optional","invitation":"off","proof_of_work":null,"turnstile":false}'::jsonb,
  lines jsonb not null default '[{"line":"public","weight":1,"opens_early_seconds":0,"access":null}]'::jsonb,
  expected_visitors integer,
  ticket_shards integer,
  max_unpaid_orders integer not null default 3,
  contact jsonb not null default '{"email":"off","address":false,"retention_days":30}'::jsonb,
  indexed boolean not null default true,
  published_phase text not null default 'upcoming',
  paused boolean not null default false,
  pause_reason jsonb,
  test boolean not null default false,
  ended_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);

create table products (
  sale_id text not null,
  product_id text not null,
  place integer not null,
  name text not null,
  unit_price_minor bigint not null,
  currency text not null,
  total integer not null,
  buffer integer not null default 0,
  held integer not null default 0,
  sold integer not null default 0,
  version bigint not null default 0,
  constraint products_sale_id_product_id_pk primary key (sale_id, product_id),
  constraint never_oversold check (held >= 0 and sold >= 0 and buffer >= 0 and held + sold <= total - buffer)
);
alter table products add constraint products_sale_id_sales_sale_id_fk
  foreign key (sale_id) references sales (sale_id);

create table announcements (
  announcement_id uuid primary key,
  sale_id text not null,
  level text not null,
  text jsonb not null,
  operator text not null,
  since timestamptz(3) not null default now(),
  until timestamptz(3)
);
alter table announcements add constraint announcements_sale_id_sales_sale_id_fk
  foreign key (sale_id) references sales (sale_id);
create index announcements_of_sale on announcements (sale_id, since);
create unique index one_announcement on announcements (sale_id) where until is null;

create table scheduled_actions (
  action_id uuid primary key,
  sale_id text not null,
  effect jsonb not null,
  cron text,
  next_at timestamptz(3),
  operator text not null,
  created_at timestamptz(3) not null default now(),
  cancelled_at timestamptz(3),
  idempotency_key text
);
alter table scheduled_actions add constraint scheduled_actions_sale_id_sales_sale_id_fk
  foreign key (sale_id) references sales (sale_id);
create unique index one_action_per_key on scheduled_actions (sale_id, idempotency_key)
  where idempotency_key is not null;
create index scheduled_of_sale on scheduled_actions (sale_id);
create index scheduled_due on scheduled_actions (next_at) where next_at is not null;

create table scheduled_runs (
  action_id uuid not null,
  due_at timestamptz(3) not null,
  ran_at timestamptz(3) not null default now(),
  late boolean not null,
  error text,
  constraint scheduled_runs_action_id_due_at_pk primary key (action_id, due_at)
);
alter table scheduled_runs add constraint scheduled_runs_action_id_scheduled_actions_action_id_fk
  foreign key (action_id) references scheduled_actions (action_id);

create table sale_minutes (
  sale_id text not null,
  minute timestamptz(3) not null,
  counts jsonb not null,
  gauges jsonb not null,
  constraint sale_minutes_sale_id_minute_pk primary key (sale_id, minute)
);

-- The version of a product's row grows with each change, so that a repair applies only to the state it was computed from.
create function increment_version() returns trigger language plpgsql as $$
begin
  new.version := old.version + 1;
  return new;
end $$;
create trigger product_version before update on products for each row execute function increment_version();

-- -- Orders, and what is known of their buyers ---------------------------------------------------------------------

create table orders (
  order_id uuid primary key,
  sale_id text not null,
  product_id text not null,
  visitor text not null,
  line text not null default 'public',
  ticket_number bigint not null,
  quantity integer not null,
  unit_price_minor bigint not null,
  currency text not null,
  status text not null,
  idempotency_key text not null,
  request_hash text not null,
  reserved_until timestamptz(3) not null,
  payment_method text,
  charge_id text,
  reason text,
  attempts integer not null default 0,
  decline_code text,
  action jsonb,
  action_until timestamptz(3),
  refunded_minor bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint known_status check (
    status in ('reserved', 'paying', 'confirmed', 'fulfilled', 'expired', 'cancelled', 'refunded', 'returned')
  )
);
create unique index one_order_per_key on orders (sale_id, visitor, idempotency_key);
create index holds_by_end on orders (reserved_until) where status = 'reserved';
create index payments_to_begin on orders (created_at)
  where status = 'reserved' and payment_method is not null;
create index payments_under_way on orders (updated_at) where status = 'paying';
create index actions_by_end on orders (action_until) where action_until is not null;

create table contacts (
  order_id uuid primary key,
  sale_id text not null,
  email text,
  address text,
  language text not null default 'en',
  delete_after timestamptz(3) not null
);
create index contacts_by_end on contacts (delete_after);
create index contacts_of_sale on contacts (sale_id);
create index contacts_by_email on contacts (lower(email));
create index contacts_by_address on contacts (address) where address is not null;

create table forgotten_visitors (
  visitor text primary key,
  asked_at timestamptz(3) not null default now()
);

create table order_notes (
  note_id bigserial primary key,
  order_id uuid not null,
  operator text not null,
  text text not null,
  at timestamptz(3) not null default now()
);
create index notes_of_order on order_notes (order_id);

-- Vacuum orders by the number of changes instead of their share of all orders, which is Postgres's default: of five million
-- orders a million had to change first, and meanwhile counting a sale's orders read the dead rows of everything it sold. Below
-- ten thousand either is quick. Insertions need no rule of their own: every order changes later, when it is paid or given back.
alter table orders set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);

-- -- Money due or moved at the payment provider --------------------------------------------------------------------

create table captures (
  charge_id text primary key,
  order_id uuid not null,
  asked_at timestamptz(3) not null default now(),
  captured_at timestamptz(3)
);
create index captures_open on captures (asked_at) where captured_at is null;

create table refunds (
  refund_id uuid primary key default gen_random_uuid(),
  charge_id text not null,
  order_id uuid not null,
  amount_minor bigint,
  restock boolean not null default false,
  reason text not null,
  operator text,
  idempotency_key text,
  asked_at timestamptz(3) not null default now(),
  refunded_at timestamptz(3)
);
create index refunds_open on refunds (asked_at) where refunded_at is null;
create index refunds_of_charge on refunds (charge_id);
create index refunds_of_order on refunds (order_id);
create unique index one_whole_refund on refunds (charge_id) where amount_minor is null;
create unique index one_refund_per_key on refunds (order_id, idempotency_key)
  where idempotency_key is not null;

create table comparisons (
  provider text primary key,
  cursor text not null,
  compared_at timestamptz(3) not null default now()
);

-- -- The log of events, and the messages made from it --------------------------------------------------------------

create table events (
  xid xid8 not null default pg_current_xact_id(),
  seq bigserial not null,
  type text not null,
  order_id uuid,
  order_ids uuid[],
  status text,
  sale_id text,
  data jsonb,
  at timestamptz(3) not null default clock_timestamp(),
  constraint events_xid_seq_pk primary key (xid, seq)
);
create index events_of_order on events (order_id, seq);

create table readers (
  reader text primary key,
  xid xid8 not null default '0',
  seq bigint not null default 0
);

create table webhook_endpoints (
  endpoint_id uuid primary key,
  url text not null,
  events text[] not null,
  secrets jsonb not null,
  state text not null default 'active',
  note text not null default '',
  created_at timestamptz(3) not null default now()
);

-- -- Jobs ---------------------------------------------------------------------------------------------------------

create table jobs (
  job_id bigserial primary key,
  queue text not null,
  group_id text not null default '',
  lane text,
  data jsonb not null,
  state text not null default 'pending',
  attempts integer not null default 0,
  run_at timestamptz(3) not null default now(),
  leased boolean not null default false,
  error text,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3)
);
create index jobs_due on jobs (queue, group_id, run_at, job_id) where state = 'pending';
create index jobs_first_in_lane on jobs (queue, group_id, lane, job_id)
  where state = 'pending' and lane is not null;
create index jobs_dead on jobs (queue, job_id) where state = 'dead';
create index jobs_of_group on jobs (group_id, job_id) where group_id <> '';
create index jobs_of_lane on jobs (lane) where lane is not null;

-- Vacuum jobs by the number of changes, as orders: a job is taken and ended within moments, and whoever looks for due jobs would
-- read the dead rows of all that were done since.
alter table jobs set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- -- Who may join a sale -------------------------------------------------------------------------------------------

create table rules (
  rule_id bigserial primary key,
  sale_id text not null,
  "when" jsonb not null,
  action text not null,
  note text not null,
  met bigint not null default 0
);
alter table rules add constraint rules_sale_id_sales_sale_id_fk
  foreign key (sale_id) references sales (sale_id);
create index rules_of_sale on rules (sale_id, rule_id);

create table invitations (
  sale_id text not null,
  code_hash text not null,
  uses integer not null,
  used integer not null default 0,
  constraint invitations_sale_id_code_hash_pk primary key (sale_id, code_hash),
  constraint not_overused check (used <= uses)
);

create table invited_visitors (
  sale_id text not null,
  code_hash text not null,
  visitor text not null,
  constraint invited_visitors_sale_id_code_hash_visitor_pk primary key (sale_id, code_hash, visitor)
);

create table blocks (
  block_id bigserial primary key,
  visitor text,
  account text,
  address text,
  note text not null,
  blocked_at timestamptz(3) not null default now()
);

-- -- Problems, changes, and the operators who make them ------------------------------------------------------------

create table findings (
  finding_id bigserial primary key,
  sale_id text not null,
  product_id text not null,
  kind text not null,
  subject text not null default '',
  units integer not null default 0,
  detail jsonb,
  first_seen_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  seen integer not null default 1,
  closed_at timestamptz(3),
  outcome text
);
create unique index one_open_finding on findings (sale_id, product_id, kind, subject) where closed_at is null;
create index findings_of_sale on findings (sale_id, finding_id);

create table audit_log (
  entry_id bigserial primary key,
  at timestamptz(3) not null default now(),
  actor text not null,
  action text not null,
  sale_id text not null,
  product_id text,
  order_id uuid,
  idempotency_key text,
  before jsonb,
  after jsonb
);
create index audit_of_sale on audit_log (sale_id, entry_id);
create unique index one_entry_per_key on audit_log (sale_id, product_id, action, idempotency_key)
  where idempotency_key is not null;
create index audit_of_order on audit_log (order_id) where order_id is not null;

create table operators (
  operator text primary key,
  role text not null,
  key_hash text not null,
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3),
  constraint operators_key_hash_unique unique (key_hash)
);

create table operator_sessions (
  session_hash text primary key,
  operator text not null,
  role text not null,
  by_key boolean not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null
);
create index sessions_by_end on operator_sessions (expires_at);

-- -- What support searches: copies of orders, contacts and notes ---------------------------------------------------

create table order_search (
  order_id uuid primary key,
  sale_id text not null,
  product_id text not null,
  status text not null
);
create index searched_by_product on order_search (sale_id, product_id, status, order_id);

-- All that an order is found by, in lower case, with a space before and after each part. Addresses have x for their dots and
-- colons: to trigrams these are spaces, and the numbers between them are everywhere.
create table order_texts (
  order_id uuid primary key,
  words text not null
);
create extension if not exists pg_trgm;
create index searched_by_words on order_texts using gin (words gin_trgm_ops);

-- The distinct words in which a typing error is forgiven, in how many orders each is: what stands before a mail's @, as a whole and in
-- its parts, accounts and notes. Names and mails apart, because a short name is like many mails.
create table search_words (
  word text primary key,
  orders int not null
);
create index similar_names on search_words using gin (word gin_trgm_ops) where word !~ '[0-9._+-]';
create index similar_mails on search_words using gin (word gin_trgm_ops) where word ~ '[0-9._+-]';

-- The first parts of a text are the sale, the ticket number and the visitor.
create function search_words_of(words text) returns table (word text) language sql immutable as $$
  select distinct word from regexp_split_to_table(words, ' ') with ordinality as p(part, place),
    split_part(part, '@', 1) as whole, unnest(whole || regexp_split_to_array(whole, '[0-9._+-]+')) as word
  where (part like '%@%' or (place > 4 and part !~ '[0-9_:.+]')) and length(word) >= 4
$$;
create function count_search_words() returns trigger language plpgsql as $$
declare
  v_before text[] := array(select word from search_words_of(old.words) where old is not null order by word);
  v_after text[] := array(select word from search_words_of(new.words) where new is not null order by word);
begin
  if v_before <> v_after then
    insert into search_words as s (word, orders) select word, 1 from unnest(v_after) as word
      on conflict (word) do update set orders = s.orders + 1;
    update search_words set orders = orders - 1 where word = any(v_before);
    delete from search_words where word = any(v_before) and orders = 0;
  end if;
  return null;
end $$;
create trigger words_counted after insert or delete or update of words on order_texts
  for each row execute function count_search_words();

create function copy_order_texts(ids uuid[]) returns void language sql as $$
  insert into order_texts as t (order_id, words)
  select o.order_id, lower(concat_ws(' ', '', o.sale_id, o.ticket_number, o.visitor, nullif(split_part(o.visitor, 'user:', 2), ''),
    o.charge_id, c.email, translate(c.address, '.:', 'xx'), n.notes, ''))
  from orders o
  left join contacts c on c.order_id = o.order_id
  left join lateral (
    select regexp_replace(string_agg(text, ' ' order by note_id), '[^[:alnum:]@._:+-]+', ' ', 'g') as notes
    from order_notes where order_id = o.order_id) n on true
  where o.order_id = any(ids)
  on conflict (order_id) do update set words = excluded.words where t.words <> excluded.words
$$;

-- Whatever is deleted or made anonymous can no longer be found. The triggers take the same lock as the transactions that copy
-- rows into the search: a copy of an older row is written before the trigger changes it.
create function search_forgets_texts() returns trigger language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext('order search'));
  perform copy_order_texts(array(select order_id from changed));
  return null;
end $$;
create function search_forgets_orders() returns trigger language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext('order search'));
  delete from order_search s using changed g where s.order_id = g.order_id;
  delete from order_texts t using changed g where t.order_id = g.order_id;
  return null;
end $$;
create function search_forgets_visitor() returns trigger language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext('order search'));
  perform copy_order_texts(array[new.order_id]);
  return null;
end $$;
create trigger search_forgets_deleted after delete on contacts referencing old table as changed
  for each statement execute function search_forgets_texts();
create trigger search_forgets_changed after update on contacts referencing old table as changed
  for each statement execute function search_forgets_texts();
create trigger search_forgets_deleted after delete on order_notes referencing old table as changed
  for each statement execute function search_forgets_texts();
create trigger search_forgets_deleted after delete on orders referencing old table as changed
  for each statement execute function search_forgets_orders();
-- No other update of an order names this column, so only anonymizing pays for the trigger.
create trigger search_forgets_visitor after update of visitor on orders
  for each row when (old.visitor is distinct from new.visitor) execute function search_forgets_visitor();
