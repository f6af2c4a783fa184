-- view_hour: the name of the partition of the hour of a time.
create or replace function view_hour(p_at timestamptz) returns text language sql stable as $$
  select 'view_log_' || to_char(p_at at time zone 'UTC', 'YYYYMMDDHH24')
$$;

-- create_view_hour: the partition of the hour of a time, unless it exists. Attaching a table, unlike creating it as a
-- partition, does not wait for those who read the log. A partition lives for a day and only gains rows, so that there
-- is nothing to vacuum. Who serves may make no tables, so this has the rights of who migrates.
create or replace function create_view_hour(p_at timestamptz) returns void language plpgsql
security definer set search_path = public as $$
declare
  v_name text := view_hour(p_at);
  v_from timestamptz := date_trunc('hour', p_at, 'UTC');
begin
  if to_regclass(v_name) is not null then return; end if;
  execute format('create table %I (like view_log including indexes) with (autovacuum_enabled = false)', v_name);
  execute format('alter table view_log attach partition %I for values from (%L) to (%L)', v_name, v_from,
    v_from + interval '1 hour');
end $$;

-- begin_view_batch: the first of p_rows numbers, and the time that the rows are written. The lock lasts until the
-- transaction ends, so that rows appear in the order of their numbers. Rows that a crash of Postgres loses are views of
-- its last moments, for which no one waits: the commit does not wait for the disk.
create or replace function begin_view_batch(p_rows integer, out first_seq bigint, out written_at timestamptz)
language plpgsql as $$
begin
  set local synchronous_commit = off;
  perform pg_advisory_xact_lock(hashtext('view log'));
  written_at := date_trunc('milliseconds', clock_timestamp());
  perform create_view_hour(written_at);
  perform create_view_hour(written_at + interval '1 hour');
  first_seq := nextval('view_log_seq');
  perform setval('view_log_seq', first_seq + p_rows - 1);
end $$;

-- drop_view_hours: drops the partitions whose hour began a day ago, and returns how many. A row is so kept for 23 to 24
-- hours. It gives up soon where it has to wait for readers, and is tried again.
create or replace function drop_view_hours() returns integer language plpgsql
security definer set search_path = public as $$
declare
  v_name text;
  v_dropped integer := 0;
begin
  set local lock_timeout = '2s';
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'view_log'::regclass and c.relname <= view_hour(clock_timestamp() - interval '24 hours')
    order by c.relname
  loop
    execute format('drop table %I', v_name);
    v_dropped := v_dropped + 1;
  end loop;
  return v_dropped;
end $$;
