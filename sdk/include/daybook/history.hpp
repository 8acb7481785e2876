// The desk's past as a feed ("daybook.history/1", ext/history.h). A batch at a time, so that
// records and cursor go into one transaction:
//
//     for (bool more = true; more;) {
//         const daybook::HistoryBatch batch = daybook::read_history(call, index.cursor());
//         if (batch.restart) { index.clear(); }
//         for (const daybook::HistoryRecord& record : batch) { index.take(record); }
//         index.commit(batch.cursor);
//         more = batch.more;
//     }
//
// or all at once, for a plugin that keeps nothing: for (const auto& record :
// daybook::History(call))
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <daybook/call.hpp>
#include <daybook/ext/history.h>

namespace daybook {

/// Members as in ext/history.h. A record of kind "clear" tells to forget every record of its group.
struct HistoryRecord {
    std::string kind, id, group, day, at, source, part, turn, tool, text;
    bool cut = false;
    [[nodiscard]] bool is_clear() const noexcept { return kind == "clear"; }
};

struct HistoryBatch {
    std::string cursor;
    bool more = false;
    bool restart = false;  ///< forget everything; this batch begins anew
    std::vector<HistoryRecord> records;
    [[nodiscard]] auto begin() const noexcept { return records.begin(); }
    [[nodiscard]] auto end() const noexcept { return records.end(); }
};

/// How much a batch may hold; 0 = the host's default.
struct HistoryBounds {
    std::int64_t max_records = 0;
    std::int64_t max_bytes = 0;
};

/// The records behind the cursor, "" = from the beginning. Throws INVALID, IO, CANCELLED,
/// UNSUPPORTED (not wanted in the manifest).
inline HistoryBatch read_history(const Call& call,
                                 std::string_view cursor,
                                 HistoryBounds bounds = {}) {
    const auto& table = call.extension<daybook_history>(DAYBOOK_EXT_HISTORY);
    const std::string answer = Call::ask([&](auto* to, auto sink) {
        return table.read(
            call.handle(), detail::to_str(cursor), bounds.max_records, bounds.max_bytes, to, sink);
    });
    const json::ObjectReader in(answer);
    HistoryBatch batch{in.text("cursor"), in.boolean("more"), in.boolean("restart"), {}};
    for (const std::string_view item : json::items_of(in.raw("records"))) {
        const json::ObjectReader record(item);
        batch.records.push_back({record.text("kind"),
                                 record.text("id"),
                                 record.text("group"),
                                 record.text("day"),
                                 record.text("at"),
                                 record.text("source"),
                                 record.text("part"),
                                 record.text("turn"),
                                 record.text("tool"),
                                 record.text("text"),
                                 record.boolean("cut")});
    }
    return batch;
}

/// All records from a cursor on, batch after batch; one pass. Borrows the call.
class History {
  public:
    explicit History(const Call& call, std::string cursor = {}, HistoryBounds bounds = {})
        : call_(call), bounds_(bounds), next_(std::move(cursor)) {}

    class Iterator {
      public:
        using value_type = HistoryRecord;
        using difference_type = std::ptrdiff_t;
        using iterator_concept = std::input_iterator_tag;

        Iterator() = default;
        explicit Iterator(History* feed) : feed_(feed) {}
        const HistoryRecord& operator*() const { return feed_->batch_.records[feed_->at_]; }
        const HistoryRecord* operator->() const { return &**this; }
        Iterator& operator++() {
            ++feed_->at_;
            feed_->fill();
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const noexcept { return feed_->is_done(); }

      private:
        History* feed_ = nullptr;
    };

    Iterator begin() {
        fill();
        return Iterator(this);
    }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }
    /// Where to go on later: behind everything that was given, once the loop has run to its end;
    /// after a break it is the beginning of the batch that was being given.
    [[nodiscard]] const std::string& cursor() const noexcept { return is_done() ? next_ : begun_; }
    /// A batch has begun anew: what was given before it counts no more.
    [[nodiscard]] bool restarted() const noexcept { return restarted_; }

  private:
    [[nodiscard]] bool is_done() const noexcept {
        return started_ && !batch_.more && at_ >= batch_.records.size();
    }
    void fill() {
        while (!started_ || (at_ >= batch_.records.size() && batch_.more)) {
            call_.check();
            begun_ = next_;
            batch_ = read_history(call_, next_, bounds_);
            started_ = true;
            next_ = batch_.cursor;
            restarted_ = restarted_ || batch_.restart;
            at_ = 0;
        }
    }

    const Call& call_;
    HistoryBounds bounds_;
    HistoryBatch batch_;
    std::string begun_, next_;
    std::size_t at_ = 0;
    bool started_ = false;
    bool restarted_ = false;
};

}  // namespace daybook
